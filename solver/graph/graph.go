package graph

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sort"

	"github.com/msrep-go/msrep/internal/given"
	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/kernels/cpu"
	"github.com/msrep-go/msrep/sparse"
)

// Graph is a graph in the format that PageRank reads. PageRank does not change it.
type Graph struct {
	Format Format // csr, ell or pellr

	// The links are stored by their target: node j has links from the nodes in[k], ptr[j] <= k < ptr[j+1].
	nodes    int
	ptr      []int64
	in       []int32
	degree   []int32 // number of links from each node; 1 for dangling nodes, where it is not used
	dangling []int32 // nodes without links, in ascending order
	number   []int32 // number of each node in the matrix; nil where it is the same
	// share[k] is the part of the rank of node in[k] that link k passes on: its weight divided by the sum of the
	// weights of the links from in[k]. nil if links have no weights: each passes on 1/O_i.
	share []float64
}

// slicePadding is the largest padding, as a fraction of the links, for which FormatAuto selects slices.
const slicePadding = 0.25

// sortedPadding is the padding, as a fraction of the links, at which sortByLinks stops enlarging its windows.
const sortedPadding = 0.05

// New transposes a matrix of links for PageRank. An entry (i, j) of a, with any value, is a link from node i to
// node j. FormatAuto selects the format by the matrix. New copies a, which may change afterwards. Wrong arguments are
// *sparse.InputError.
func New(ctx context.Context, a *sparse.CSR[float64], format Format) (*Graph, error) {
	return newGraph(ctx, a, format, false)
}

// NewWeighted is New for links with weights: entry (i, j) is the weight of the link from i to j. A node passes its rank
// on in proportion to the weights. Weights must be finite and not negative, and so must the sum of each row. A node
// whose weights are all 0 is dangling.
func NewWeighted(ctx context.Context, a *sparse.CSR[float64], format Format) (*Graph, error) {
	return newGraph(ctx, a, format, true)
}

// FromInLinks returns a Graph of format csr that uses the arrays of links in place, where entry (j, i) of links, with any
// value, is a link from node i to node j: the transpose of the matrix of New. It does not read the values, so a graph in
// a mapped .msr file takes 4 bytes of reads for each link, and 4 bytes of memory for each node. links must not change
// while the Graph is used. Wrong arguments are *sparse.InputError.
func FromInLinks(ctx context.Context, links *sparse.CSR[float64]) (*Graph, error) {
	if err := cmp.Or(given.Context(ctx), check(links)); err != nil {
		return nil, err
	}
	if err := graphFits(links.Rows, len(links.ColIdx), "count the links of these", 8*int64(links.Rows)); err != nil {
		return nil, err
	}
	g := &Graph{Format: FormatCSR, nodes: links.Rows, ptr: links.RowPtr, in: links.ColIdx, degree: make([]int32, links.Rows)}
	for part := range slices.Chunk(g.in, 1<<24) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for _, i := range part {
			if g.degree[i] == math.MaxInt32 {
				return nil, sparse.Inputf("matrix", "node %d has more than %d links: not supported", i, math.MaxInt32)
			}
			g.degree[i]++
		}
	}
	for i, n := range g.degree {
		if n == 0 {
			g.degree[i] = 1
			g.dangling = append(g.dangling, int32(i))
		}
	}
	return g, nil
}

func newGraph(ctx context.Context, a *sparse.CSR[float64], format Format, weighted bool) (*Graph, error) {
	opt := Options{Format: format}
	if err := cmp.Or(given.Context(ctx), opt.fill(), check(a)); err != nil {
		return nil, err
	}
	need := 16*int64(a.Rows) + 16*a.NNZ()
	if weighted {
		need += 8*int64(a.Rows) + 8*a.NNZ()
	}
	if err := graphFits(a.Rows, len(a.ColIdx), "transpose them", need); err != nil {
		return nil, err
	}
	g := &Graph{Format: opt.Format, nodes: a.Rows, degree: make([]int32, a.Rows)}
	for i := range g.degree {
		n := a.RowPtr[i+1] - a.RowPtr[i]
		if n > sparse.MaxDim {
			return nil, sparse.Inputf("matrix", "node %d has %d links: at most %d are supported", i, n, sparse.MaxDim)
		}
		if g.degree[i] = int32(n); n == 0 {
			g.degree[i] = 1
			g.dangling = append(g.dangling, int32(i))
		}
	}
	if weighted {
		if err := g.transposeWeighted(a); err != nil {
			return nil, err
		}
	} else {
		// The values are not used: float32 is the smallest type of values.
		links := &sparse.CSR[float32]{Rows: a.Rows, Cols: a.Cols, RowPtr: a.RowPtr, ColIdx: a.ColIdx, Val: make([]float32, len(a.ColIdx))}
		t := sparse.ToCSC[float32](links)
		g.ptr, g.in = t.ColPtr, t.RowIdx
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	switch g.Format {
	case FormatPELLR:
		if err := graphFits(g.nodes, len(g.in), "sort these", 20*int64(g.nodes)+4*int64(len(g.in))); err != nil {
			return nil, err
		}
		g.sortByLinks()
	case FormatAuto:
		g.Format = FormatCSR
		if float64(cpu.SlicePadding(g.ptr)) <= slicePadding*float64(len(g.in)) {
			g.Format = FormatELL
		}
	}
	return g, ctx.Err()
}

// check returns an error if a is not the matrix of a graph.
func check(a *sparse.CSR[float64]) error {
	if err := a.Validate(); err != nil {
		return err
	}
	if a.Rows != a.Cols {
		return sparse.Inputf("matrix", "%d x %d: the matrix of a graph must be square", a.Rows, a.Cols)
	}
	return nil
}

// transposeWeighted sets the links, their shares and the dangling nodes of g.
func (g *Graph) transposeWeighted(a *sparse.CSR[float64]) error {
	out, err := weightsOut(a)
	if err != nil {
		return err
	}
	t := sparse.ToCSC[float64](a)
	g.ptr, g.in, g.share = t.ColPtr, t.RowIdx, t.Val
	par.Range(int64(len(g.in)), 1<<15, func(lo, hi int64) {
		for k := lo; k < hi; k++ {
			if w := out[g.in[k]]; w > 0 {
				g.share[k] /= w
			}
		}
	})
	g.dangling = g.dangling[:0]
	for i, w := range out {
		if w == 0 {
			g.dangling = append(g.dangling, int32(i))
		}
	}
	return nil
}

// weightsOut returns the sum of the weights of the links from each node.
func weightsOut(a *sparse.CSR[float64]) ([]float64, error) {
	out := make([]float64, a.Rows)
	for i := range out {
		for k := a.RowPtr[i]; k < a.RowPtr[i+1]; k++ {
			w := a.Val[k]
			if !(w >= 0) || math.IsInf(w, 1) {
				return nil, sparse.Inputf("matrix", "the link from node %d to node %d has the weight %g: a weight must be finite and at least 0", i, a.ColIdx[k], w)
			}
			out[i] += w
		}
		if math.IsInf(out[i], 1) {
			return nil, sparse.Inputf("matrix", "the weights of the links from node %d have an infinite sum", i)
		}
	}
	return out, nil
}

// sortWindows holds the window sizes that sortByLinks tries. A small window keeps the nodes near their old neighbours.
var sortWindows = []int{256, 4096, 65536, math.MaxInt}

// sortByLinks renumbers the nodes so that the nodes of a slice have about the same number of incoming links. Within
// each window of nodes it sorts by descending number of incoming links, and keeps the order of equal nodes. It
// uses the smallest window of sortWindows that brings the padding down to sortedPadding, else the largest.
func (g *Graph) sortByLinks() {
	count := func(j int32) int64 { return g.ptr[j+1] - g.ptr[j] }
	old := make([]int32, g.nodes)
	ptr := make([]int64, g.nodes+1)
	for _, window := range sortWindows {
		for j := range old {
			old[j] = int32(j)
		}
		for part := range slices.Chunk(old, min(window, max(g.nodes, 1))) {
			slices.SortStableFunc(part, func(a, b int32) int { return cmp.Compare(count(b), count(a)) })
		}
		for j, o := range old {
			ptr[j+1] = ptr[j] + count(o)
		}
		if float64(cpu.SlicePadding(ptr)) <= sortedPadding*float64(len(g.in)) {
			break
		}
	}
	renamed := make([]int32, g.nodes)
	s := &Graph{Format: g.Format, nodes: g.nodes, ptr: ptr, in: make([]int32, len(g.in)), degree: make([]int32, g.nodes), number: old}
	for j, o := range old {
		renamed[o] = int32(j)
		s.degree[j] = g.degree[o]
	}
	if g.share != nil {
		s.share = make([]float64, len(g.share))
	}
	par.Range(int64(g.nodes), 1<<12, func(lo, hi int64) {
		for j := lo; j < hi; j++ {
			from := g.in[g.ptr[old[j]]:]
			to := s.in[s.ptr[j]:s.ptr[j+1]]
			for k := range to {
				to[k] = renamed[from[k]]
			}
			if s.share != nil {
				copy(s.share[s.ptr[j]:s.ptr[j+1]], g.share[g.ptr[old[j]]:])
				sort.Sort(byNode{to, s.share[s.ptr[j]:s.ptr[j+1]]})
				continue
			}
			slices.Sort(to)
		}
	})
	for _, o := range g.dangling {
		s.dangling = append(s.dangling, renamed[o])
	}
	slices.Sort(s.dangling)
	*g = *s
}

// byNode sorts the links into a node, with their shares.
type byNode struct {
	in    []int32
	share []float64
}

func (b byNode) Len() int           { return len(b.in) }
func (b byNode) Less(i, j int) bool { return b.in[i] < b.in[j] }
func (b byNode) Swap(i, j int) {
	b.in[i], b.in[j] = b.in[j], b.in[i]
	b.share[i], b.share[j] = b.share[j], b.share[i]
}

// weights returns the part of the rank of i that each link i -> j passes on: 1/O_i, or its share of the weights.
func (g *Graph) weights() []float64 {
	if g.share != nil {
		return g.share
	}
	w := make([]float64, len(g.in))
	par.Range(int64(len(w)), 1<<15, func(lo, hi int64) {
		for k := lo; k < hi; k++ {
			w[k] = 1 / float64(g.degree[g.in[k]])
		}
	})
	return w
}

// arrange returns a vector over the nodes of the matrix in the node order of the graph.
func (g *Graph) arrange(v []float64) []float64 {
	if g.number == nil || v == nil {
		return v
	}
	out := make([]float64, len(v))
	for j, o := range g.number {
		out[j] = v[o]
	}
	return out
}

// restore returns the ranks in the node order of the matrix.
func (g *Graph) restore(ranks []float64) []float64 {
	if g.number == nil {
		return ranks
	}
	out := make([]float64, len(ranks))
	for j, o := range g.number {
		out[o] = ranks[j]
	}
	return out
}
