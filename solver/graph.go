package solver

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/msrep-go/msrep/internal/given"
	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/kernels/cpu"
	"github.com/msrep-go/msrep/sparse"
)

// Graph is a graph in the format that PageRank reads. PageRank does not change it.
type Graph struct {
	Format GraphFormat // csr, ell or pellr

	// The links are stored by their target: node j has links from the nodes in[k], ptr[j] <= k < ptr[j+1].
	nodes    int
	ptr      []int64
	in       []int32
	degree   []int32 // number of links from each node; 1 for dangling nodes, where it is not used
	dangling []int32 // nodes without links, in ascending order
	number   []int32 // number of each node in the matrix; nil where it is the same
}

// slicePadding is the largest padding, as a fraction of the links, for which GraphAuto selects slices.
const slicePadding = 0.25

// sortedPadding is the padding, as a fraction of the links, at which sortByLinks stops enlarging its windows.
const sortedPadding = 0.05

// NewGraph transposes a matrix of links for PageRank. An entry (i, j) of a, with any value, is a link from node i to
// node j. GraphAuto selects the format by the matrix. NewGraph copies a, which may change afterwards. Wrong
// arguments are *sparse.InputError.
func NewGraph(ctx context.Context, a *sparse.CSR[float64], format GraphFormat) (*Graph, error) {
	if err := given.Context(ctx); err != nil {
		return nil, err
	}
	opt := PageRankOptions{Format: format}
	if err := opt.fill(); err != nil {
		return nil, err
	}
	if err := a.Validate(); err != nil {
		return nil, err
	}
	if a.Rows != a.Cols {
		return nil, sparse.Inputf("matrix", "%d x %d: the matrix of a graph must be square", a.Rows, a.Cols)
	}
	if err := graphFits(a.Rows, len(a.ColIdx), "transpose them", 16*int64(a.Rows)+16*a.NNZ()); err != nil {
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
	// The values are not used: float32 is the smallest type of values.
	links := &sparse.CSR[float32]{Rows: a.Rows, Cols: a.Cols, RowPtr: a.RowPtr, ColIdx: a.ColIdx, Val: make([]float32, len(a.ColIdx))}
	t := sparse.ToCSC[float32](links)
	g.ptr, g.in = t.ColPtr, t.RowIdx
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	switch g.Format {
	case GraphPELLR:
		if err := graphFits(g.nodes, len(g.in), "sort these", 20*int64(g.nodes)+4*int64(len(g.in))); err != nil {
			return nil, err
		}
		g.sortByLinks()
	case GraphAuto:
		g.Format = GraphCSR
		if float64(cpu.SlicePadding(g.ptr)) <= slicePadding*float64(len(g.in)) {
			g.Format = GraphELL
		}
	}
	return g, ctx.Err()
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
	par.Range(int64(g.nodes), 1<<12, func(lo, hi int64) {
		for j := lo; j < hi; j++ {
			from := g.in[g.ptr[old[j]]:]
			to := s.in[s.ptr[j]:s.ptr[j+1]]
			for k := range to {
				to[k] = renamed[from[k]]
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

// weights returns 1/O_i for each link i -> j.
func (g *Graph) weights() []float64 {
	w := make([]float64, len(g.in))
	par.Range(int64(len(w)), 1<<15, func(lo, hi int64) {
		for k := lo; k < hi; k++ {
			w[k] = 1 / float64(g.degree[g.in[k]])
		}
	})
	return w
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
