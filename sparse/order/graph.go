package order

import (
	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/sparse"
)

// graph is an undirected graph without loops: adj[ptr[i]:ptr[i+1]] are the neighbours of
// node i, each once, in no particular order.
type graph struct {
	ptr []int64
	adj []int32
}

func (g *graph) nodes() int { return len(g.ptr) - 1 }

func (g *graph) neighbours(i int32) []int32 { return g.adj[g.ptr[i]:g.ptr[i+1]] }

func (g *graph) degree(i int32) int { return int(g.ptr[i+1] - g.ptr[i]) }

// symmetricGraph returns the graph of A + A': i and j are neighbours if a has an entry (i,
// j) or (j, i).
func symmetricGraph[V sparse.Value](a *sparse.CSR[V]) (*graph, error) {
	if err := square(a); err != nil {
		return nil, err
	}
	if err := fits(a, 8*a.NNZ()+12*int64(a.Rows)); err != nil {
		return nil, err
	}
	n := a.Rows
	g := &graph{ptr: make([]int64, n+1)}
	next := g.ptr[1:] // counts, then the end of each list so far
	for i := range n {
		for _, j := range a.ColIdx[a.RowPtr[i]:a.RowPtr[i+1]] {
			if int(j) != i {
				next[i]++
				next[j]++
			}
		}
	}
	sum := int64(0)
	for i, count := range next {
		next[i] = sum
		sum += count
	}
	g.adj = make([]int32, sum)
	for i := range n {
		for _, j := range a.ColIdx[a.RowPtr[i]:a.RowPtr[i+1]] {
			if int(j) != i {
				g.adj[next[i]] = j
				next[i]++
				g.adj[next[j]] = int32(i)
				next[j]++
			}
		}
	}
	g.unite()
	return g, nil
}

// unite removes duplicates from the lists of neighbours.
func (g *graph) unite() {
	seen := make([]int32, g.nodes()) // i+1 if the list of node i has this neighbour
	from, to := int64(0), int64(0)
	for i := range g.nodes() {
		end := g.ptr[i+1]
		for _, j := range g.adj[from:end] {
			if seen[j] != int32(i)+1 {
				seen[j] = int32(i) + 1
				g.adj[to] = j
				to++
			}
		}
		from, g.ptr[i+1] = end, to
	}
	g.adj = g.adj[:to]
}

// square validates a and refuses it if it is not square.
func square[V sparse.Value](a *sparse.CSR[V]) error {
	if err := a.Validate(); err != nil {
		return err
	}
	if a.Rows != a.Cols {
		return sparse.Inputf("matrix", "%d rows and %d columns: a square matrix is needed", a.Rows, a.Cols)
	}
	return nil
}

// fits returns an error if need bytes do not fit in memory.
func fits[V sparse.Value](a *sparse.CSR[V], need int64) error {
	if have, ok := mem.Fits(need); !ok {
		return sparse.Inputf("matrix", "%d rows, %d entries: to order these takes %d bytes, %d are available", a.Rows, a.NNZ(), need, have)
	}
	return nil
}

// sequence returns 0 to n-1.
func sequence(n int) []int32 {
	s := make([]int32, n)
	for i := range s {
		s[i] = int32(i)
	}
	return s
}
