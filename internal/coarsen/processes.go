package coarsen

import "github.com/msrep-go/msrep/sparse"

// Processes describes the rows of a process in a matrix over several processes, and communicates with the others. All
// processes call its functions in the same order.
type Processes struct {
	Rows    int   // of the whole matrix
	Entries int64 // of the whole matrix
	Lo, End int   // this process has the unknowns [Lo, End) of the square matrix of NewRows
	First   int   // the number of unknown Lo in the whole matrix
	// Fetch sets the elements of v outside [Lo, End). Max returns the maximum of x over all processes. Sum returns the sum
	// of part over chunks of the whole matrix; it calls part for ranges that together are [Lo, End).
	Fetch func(v []float64)
	Max   func(x float64) float64
	Sum   func(part func(lo, hi int) float64) float64
}

// Rows does the steps of Coarsen for the rows of a matrix that one process has. The steps between them exchange results
// with the other processes.
type Rows struct{ s *setup }

// NewRows takes the rows of a process as a square matrix a. Its unknowns are, in their order, those of the process and those
// of other processes to which these are coupled. Rows of the latter only have their entries within their nodes. opt.Nodes
// are the nodes of a.
func NewRows(a *sparse.CSR[float64], opt Options, over Processes) *Rows {
	r := &Rows{newSetup(a, make([][]float64, 1), opt)}
	r.s.over = over
	r.s.couple()
	return r
}

// Inverse is Level.InverseDiagonal for the rows of this process.
func (r *Rows) Inverse() []float64 { return r.s.inverse[r.s.over.Lo:r.s.over.End] }

// Strong returns the strong couplings of the nodes lo to end-1: those of node lo+i are to[ptr[i]:ptr[i+1]].
func (r *Rows) Strong(lo, end int) (ptr []int64, to []int32) {
	g := r.s.strong(r.s.c)
	ptr = make([]int64, 1, end-lo+1)
	for i := lo; i < end; i++ {
		to = append(to, g.neighbours(i, nil)...)
		ptr = append(ptr, int64(len(to)))
	}
	return ptr, to
}

// Bound is Level.Rho.
func (r *Rows) Bound() float64 { return r.s.spectralBound() }

// Joined returns a copy of root in which nodes without an aggregate, -1, have joined those of neighbours, by the rules that
// need only their rows.
func (r *Rows) Joined(root []int32) []int32 { return r.s.joinedByEntries(root) }

// Smoothed returns this process's rows of P, or of R' if NewRows got A'. Node i is in aggregate of[i]. Aggregate g has the
// columns first[g] to first[g+1]-1, in which unknown u has the values t[u*k], t[u*k+1], ... near is the coarse near null
// space, k vectors; their elements are used only if k is 1 and each unknown is a node.
func (r *Rows) Smoothed(of, first []int32, t []float64, near [][]float64, rho float64) *sparse.CSR[float64] {
	s := r.s
	s.of, s.first, s.t, s.aggregates = of, first, t, int32(len(first)-1)
	s.near, s.coarseNear = near, near
	p := s.smoothed(s.a, s.c, rho)
	k0, k1 := p.RowPtr[s.over.Lo], p.RowPtr[s.over.End]
	ptr := make([]int64, s.over.End-s.over.Lo+1)
	for i := range ptr {
		ptr[i] = p.RowPtr[s.over.Lo+i] - k0
	}
	return &sparse.CSR[float64]{Rows: len(ptr) - 1, Cols: p.Cols, RowPtr: ptr, ColIdx: p.ColIdx[k0:k1:k1], Val: p.Val[k0:k1:k1]}
}

// Graph is the graph of strong couplings between nodes.
type Graph struct{ g *graph }

// NewGraph returns the graph in which node i is coupled to the nodes to[ptr[i]:ptr[i+1]].
func NewGraph(ptr []int64, to []int32) *Graph {
	g := &graph{start: ptr[:len(ptr)-1], count: make([]int32, len(ptr)-1), to: to}
	for i := range g.count {
		g.count[i] = int32(ptr[i+1] - ptr[i])
	}
	return &Graph{g}
}

// Either returns the graph of the couplings in g, of A, or in h, of A'.
func (g *Graph) Either(h *Graph) *Graph { return &Graph{g.g.either(h.g, runOf(nil))} }

// Roots returns the root of the aggregate of each node, or -1, after the first pass (see setup.aggregate).
func (g *Graph) Roots() []int32 { return g.g.roots(runOf(nil)) }

// Alone reports whether node i has no neighbours.
func (g *Graph) Alone(i int) bool { return g.g.count[i] == 0 }

// FirstRoot returns the root of the first neighbour of node i that is in an aggregate; -1: none is.
func (g *Graph) FirstRoot(root []int32, i int) int32 { return g.g.firstRoot(root, i, nil) }

// Number returns the aggregate of each node, or -1, and the number of aggregates. It overwrites root.
func Number(root []int32) (of []int32, count int) {
	s := &setup{run: runOf(nil)}
	s.number(root, make([]int32, len(root)))
	return s.of, int(s.aggregates)
}

// Tentative returns the tentative prolongator: Level.Near, and first and t as for Smoothed. of is the aggregate of each node
// of n unknowns, or -1.
func Tentative(n int, near [][]float64, of []int32, aggregates int, opt Options) (coarse [][]float64, first []int32, t []float64) {
	s := &setup{a: &sparse.CSR[float64]{Rows: n}, nodes: nodesOf(n, opt), run: runOf(opt.Run), of: of, aggregates: int32(aggregates)}
	if s.near = near; len(near) == 0 {
		s.near = constants(n, max(opt.Block, 1))
	}
	s.tentative()
	return s.coarseNear, s.first, s.t
}
