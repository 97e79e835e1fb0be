package multifrontal

import (
	"math"

	"github.com/msrep-go/msrep/sparse"
)

// graph is the undirected graph of the pattern of A + A': adj[ptr[i]:ptr[i+1]] are the neighbours of node i, ascending.
// The node itself is among them if A has an entry on the diagonal.
type graph struct {
	ptr []int64
	adj []int32
	// Neighbour adj[k] of i is there for the entry own[k] of A in row i, and the entry mirror[k] in column i; noEntry
	// stands for an entry that A does not have. If own is nil, own[k] is k.
	own, mirror []uint32
}

// noEntry is one more than the largest number of an entry.
const noEntry = math.MaxUint32

func (g *graph) neighbours(i int32) []int32 { return g.adj[g.ptr[i]:g.ptr[i+1]] }

// symmetricGraph returns the graph of a, which has less than noEntry entries. It shares arrays of a if the pattern of a is
// symmetric.
func symmetricGraph(a *sparse.CSR[float64]) *graph {
	if mirror := mirrored(a); mirror != nil {
		return &graph{ptr: a.RowPtr, adj: a.ColIdx, mirror: mirror}
	}
	n := a.Rows
	start := make([]int64, n+2) // of the columns of a; start[j+1] moves while they are filled
	for _, j := range a.ColIdx {
		start[j+2]++
	}
	for j := range n {
		start[j+2] += start[j+1]
	}
	rows, place := make([]int32, len(a.ColIdx)), make([]uint32, len(a.ColIdx)) // of the entries by column
	for i := range n {
		for k := a.RowPtr[i]; k < a.RowPtr[i+1]; k++ {
			at := &start[a.ColIdx[k]+1]
			rows[*at], place[*at] = int32(i), uint32(k)
			*at++
		}
	}
	most := 2 * len(a.ColIdx)
	g := &graph{make([]int64, n+1), make([]int32, most), make([]uint32, most), make([]uint32, most)}
	to := 0
	put := func(j int32, own, mirror uint32) {
		g.adj[to], g.own[to], g.mirror[to] = j, own, mirror
		to++
	}
	for i := range n { // merge row and column
		x, xEnd, y, yEnd := a.RowPtr[i], a.RowPtr[i+1], start[i], start[i+1]
		for x < xEnd && y < yEnd {
			switch p, q := a.ColIdx[x], rows[y]; {
			case p == q:
				put(p, uint32(x), place[y])
				x, y = x+1, y+1
			case p < q:
				put(p, uint32(x), noEntry)
				x++
			default:
				put(q, noEntry, place[y])
				y++
			}
		}
		for ; x < xEnd; x++ {
			put(a.ColIdx[x], uint32(x), noEntry)
		}
		for ; y < yEnd; y++ {
			put(rows[y], noEntry, place[y])
		}
		g.ptr[i+1] = int64(to)
	}
	g.adj, g.own, g.mirror = g.adj[:to], g.own[:to], g.mirror[:to]
	return g
}

// mirrored returns the number of the entry (j, i) for each entry (i, j) of a, or nil if there is not one for each.
func mirrored(a *sparse.CSR[float64]) []uint32 {
	mirror := make([]uint32, len(a.ColIdx))
	next := make([]int64, a.Rows) // first entry of a row after its diagonal that no row below has met
	for i := range a.Rows {
		k, end := a.RowPtr[i], a.RowPtr[i+1]
		for ; k < end && int(a.ColIdx[k]) < i; k++ {
			j := a.ColIdx[k]
			at := next[j]
			if at == a.RowPtr[j+1] || int(a.ColIdx[at]) != i {
				return nil
			}
			next[j] = at + 1
			mirror[k], mirror[at] = uint32(at), uint32(k)
		}
		if k < end && int(a.ColIdx[k]) == i {
			mirror[k] = uint32(k)
			k++
		}
		next[i] = k
	}
	for i := range a.Rows {
		if next[i] != a.RowPtr[i+1] {
			return nil
		}
	}
	return mirror
}
