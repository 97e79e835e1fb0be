package cluster

import (
	"slices"

	"github.com/msrep-go/msrep/internal/coarsen"
	"github.com/msrep-go/msrep/sparse"
)

// coarser is what coarsening returns for the rows of this rank; see coarsen.Level.
type coarser struct {
	inverse []float64
	rho     float64
	p, r    *Matrix[float64] // r is nil for P'
	near    nearNull
}

// nearNull is the near null space of a level: the elements of its vectors that a rank has, and the nodes of its unknowns.
type nearNull struct {
	vectors [][]float64 // none: constants
	block   int         // unknowns in each node, if nodes is nil
	nodes   []int32     // node i of this rank is its unknowns nodes[i] to nodes[i+1]-1
}

// count returns the number of vectors.
func (n nearNull) count() int { return max(len(n.vectors), n.block) }

// options returns opt for the nodes of n.
func (n nearNull) options(opt coarsen.Options) coarsen.Options {
	opt.Block, opt.Nodes = n.block, n.nodes
	if n.nodes != nil {
		opt.Block = 0
	}
	return opt
}

// whole returns the near null space of all rows of a. All ranks call it.
func (n nearNull) whole(c Comm, a *Matrix[float64]) (nearNull, error) {
	out := nearNull{block: n.block}
	for _, v := range n.vectors {
		w, err := gatherAll(c, v)
		if err != nil {
			return out, err
		}
		out.vectors = append(out.vectors, w)
	}
	if n.nodes == nil {
		return out, nil
	}
	ends := slices.Clone(n.nodes[1:])
	for i := range ends {
		ends[i] += int32(a.First())
	}
	all, err := gatherAll(c, ends)
	out.nodes = append([]int32{0}, all...)
	return out, err
}

// coarsened makes the prolongator from the next level of a. With whole, aggregates are those of one process. All ranks of
// sys call it, and get the same error.
func coarsened(sys *System, a *Matrix[float64], near nearNull, opt coarsen.Options, whole bool) (*coarser, error) {
	if sys.comm.Size() == 1 {
		return coarsenedAlone(a, near, opt)
	}
	s := &coarsening{sys: sys, a: a, near: near, opt: opt}
	for _, step := range []func() error{
		s.findNodes,
		func() (err error) { s.e, err = s.extend(a); return err },
		s.extendBack,
		func() error {
			if whole {
				return s.aggregateWhole()
			}
			return s.aggregateOwn()
		},
		s.bound,
		func() (err error) { s.out.p, err = s.smoothed(s.e); return err },
	} {
		if err := sys.Agree(step()); err != nil {
			return nil, err
		}
	}
	if s.back == nil {
		return &s.out, nil
	}
	q, err := s.smoothed(s.back)
	if err := sys.Agree(err); err != nil {
		return nil, err
	}
	s.out.r, err = q.Transpose(sys.comm)
	return &s.out, err
}

// extendBack sets back if A is unsymmetric.
func (s *coarsening) extendBack() error {
	if !s.opt.Unsymmetric {
		return nil
	}
	t, err := s.a.Transpose(s.sys.comm)
	if err == nil {
		s.back, err = s.extend(t)
	}
	return err
}

// coarsenedAlone is coarsened on one rank.
func coarsenedAlone(a *Matrix[float64], near nearNull, opt coarsen.Options) (*coarser, error) {
	l, err := coarsen.Coarsen(a.Part, near.vectors, near.options(opt))
	if err != nil {
		return nil, err
	}
	c := &coarser{inverse: l.InverseDiagonal, rho: l.Rho, p: onOneRank(l.P), near: nearNull{vectors: l.Near, block: 1, nodes: l.Nodes}}
	if l.R != nil {
		c.r = onOneRank(l.R)
	}
	return c, nil
}

// coarsening is the state of coarsened on a rank.
type coarsening struct {
	sys  *System
	a    *Matrix[float64]
	near nearNull
	opt  coarsen.Options
	out  coarser

	nodes     int       // of this rank
	nodeCut   []int     // of all nodes, among ranks
	e, back   *extended // of A, and of A' if it differs
	aggregate []int32   // of each node of this rank: the first coarse unknown of its aggregate and the end, or -1 twice
	t         []float64 // of the tentative prolongator, count() for each unknown of this rank
	coarse    []float64 // for each unknown of this rank the first near null vector at the first coarse unknown of its aggregate
	cut       []int     // of the coarse unknowns
}

// findNodes numbers the nodes of all ranks.
func (s *coarsening) findNodes() error {
	if s.nodes = len(s.near.nodes) - 1; s.near.nodes == nil {
		s.nodes = s.a.Part.Rows / s.near.block
	}
	var err error
	s.nodeCut, err = cutsOf(s.sys.comm, s.nodes)
	return err
}

// cutsOf returns the cuts of items, of which this rank has n. All ranks call it.
func cutsOf(c Comm, n int) ([]int, error) {
	counts, err := gatherAll(c, []int64{int64(n)})
	if err != nil {
		return nil, err
	}
	cuts := make([]int, len(counts)+1)
	for r, n := range counts {
		cuts[r+1] = cuts[r] + int(n)
	}
	return cuts, nil
}

// span returns the unknowns of node i of this rank, numbered in this rank.
func (s *coarsening) span(i int) (first, end int32) {
	if s.near.nodes != nil {
		return s.near.nodes[i], s.near.nodes[i+1]
	}
	return int32(i * s.near.block), int32((i + 1) * s.near.block)
}

// aggregateOwn makes aggregates of nodes of this rank. A node that is coupled to nodes of other ranks only becomes one.
func (s *coarsening) aggregateOwn() error {
	e := s.e
	g, coupled := s.ownCouplings(e)
	if s.back != nil {
		h, _ := s.ownCouplings(s.back)
		g = g.Either(h)
	}
	root := g.Roots()
	for i := range root {
		if g.Alone(i) && coupled[i] {
			root[i] = int32(i)
		}
	}
	joined, count := coarsen.Number(s.join(g, 0, root, func(node int) int32 {
		if node < e.nodeLo || node >= e.nodeLo+s.nodes {
			return -1
		}
		return root[node-e.nodeLo]
	}))
	near, first, t := coarsen.Tentative(s.a.Part.Rows, s.near.vectors, joined, count, s.near.options(s.opt))
	var err error
	if s.cut, err = cutsOf(s.sys.comm, int(first[count])); err != nil {
		return err
	}
	s.t = t
	s.place(joined, first, int32(s.cut[s.a.rank]), near[0])
	s.out.near = nearNull{vectors: near, block: 1}
	if len(near) > 1 {
		s.out.near.nodes = first
	}
	return nil
}

// aggregateWhole makes the aggregates of one process. Every rank has the graph of strong couplings and the near null space
// as a whole meanwhile.
func (s *coarsening) aggregateWhole() error {
	e, c := s.e, s.sys.comm
	g, err := s.allCouplings(e)
	if err != nil {
		return err
	}
	if s.back != nil {
		h, err := s.allCouplings(s.back)
		if err != nil {
			return err
		}
		g = g.Either(h)
	}
	root := g.Roots()
	root, err = gatherAll(c, s.join(g, s.nodeCut[s.a.rank], root, func(node int) int32 { return root[e.node[node]] }))
	if err != nil {
		return err
	}
	all, count := coarsen.Number(root)
	whole, err := s.near.whole(c, s.a)
	if err != nil {
		return err
	}
	near, first, t := coarsen.Tentative(s.a.Rows, whole.vectors, all, count, whole.options(s.opt))
	lo, end := s.a.First(), s.a.First()+s.a.Part.Rows
	s.t = t[lo*len(near) : end*len(near)]
	s.place(all[s.nodeCut[s.a.rank]:s.nodeCut[s.a.rank+1]], first, 0, near[0])
	cut := make([]int32, c.Size()+1) // of the aggregates: those of a rank follow those of the nodes of lower ranks
	for r := range c.Size() {
		cut[r+1] = cut[r]
		for _, g := range all[s.nodeCut[r]:s.nodeCut[r+1]] {
			cut[r+1] = max(cut[r+1], g+1)
		}
	}
	s.cut = make([]int, len(cut))
	for r, g := range cut {
		s.cut[r] = int(first[g])
	}
	s.out.near = nearNull{vectors: make([][]float64, len(near)), block: 1}
	g0, g1 := cut[s.a.rank], cut[s.a.rank+1]
	for k, v := range near {
		s.out.near.vectors[k] = slices.Clone(v[first[g0]:first[g1]])
	}
	if len(near) > 1 {
		for _, u := range first[g0 : g1+1] {
			s.out.near.nodes = append(s.out.near.nodes, u-first[g0])
		}
	}
	return nil
}

// ownCouplings returns the strong couplings between nodes of this rank, and whether each node has any strong coupling.
func (s *coarsening) ownCouplings(e *extended) (g *coarsen.Graph, coupled []bool) {
	ptr, to := e.rows.Strong(e.nodeLo, e.nodeLo+s.nodes)
	ownPtr, own := make([]int64, 1, len(ptr)), to[:0:0]
	coupled = make([]bool, s.nodes)
	for i := range coupled {
		coupled[i] = ptr[i+1] > ptr[i]
		for _, j := range to[ptr[i]:ptr[i+1]] {
			if j >= int32(e.nodeLo) && j < int32(e.nodeLo+s.nodes) {
				own = append(own, j-int32(e.nodeLo))
			}
		}
		ownPtr = append(ownPtr, int64(len(own)))
	}
	return coarsen.NewGraph(ownPtr, own), coupled
}

// allCouplings returns the strong couplings of all nodes of all ranks.
func (s *coarsening) allCouplings(e *extended) (*coarsen.Graph, error) {
	ptr, to := e.rows.Strong(e.nodeLo, e.nodeLo+s.nodes)
	counts := make([]int32, s.nodes)
	for i := range counts {
		counts[i] = int32(ptr[i+1] - ptr[i])
	}
	for k, j := range to {
		to[k] = e.node[j]
	}
	counts, err := gatherAll(s.sys.comm, counts)
	if err != nil {
		return nil, err
	}
	if to, err = gatherAll(s.sys.comm, to); err != nil {
		return nil, err
	}
	ptr = make([]int64, 1, len(counts)+1)
	for i, n := range counts {
		ptr = append(ptr, ptr[i]+int64(n))
	}
	return coarsen.NewGraph(ptr, to), nil
}

// join returns the roots of the nodes of this rank after nodes in no aggregate have joined those of neighbours. These nodes
// are the nodes from own on of g and root; at returns the root of a node of s.e.
func (s *coarsening) join(g *coarsen.Graph, own int, root []int32, at func(node int) int32) []int32 {
	all := make([]int32, len(s.e.node))
	for i := range all {
		all[i] = at(i)
	}
	joined := slices.Clone(s.e.rows.Joined(all)[s.e.nodeLo : s.e.nodeLo+s.nodes])
	for i, r := range joined {
		if r < 0 {
			joined[i] = g.FirstRoot(root, own+i)
		}
	}
	return joined
}

// place sets aggregate and coarse: aggregate a has the coarse unknowns from+first[a] to from+first[a+1]-1, and near[first[a]] is
// the first near null vector at the first of them.
func (s *coarsening) place(of, first []int32, from int32, near []float64) {
	s.aggregate, s.coarse = make([]int32, 0, 2*len(of)), make([]float64, s.a.Part.Rows)
	for i, a := range of {
		if a < 0 || first[a] == first[a+1] {
			s.aggregate = append(s.aggregate, -1, -1)
			continue
		}
		s.aggregate = append(s.aggregate, from+first[a], from+first[a+1])
		for u, end := s.span(i); u < end; u++ {
			s.coarse[u] = near[first[a]]
		}
	}
}

// bound sets the bound of the eigenvalues and the inverse of the diagonal.
func (s *coarsening) bound() error {
	s.out.rho = s.e.rows.Bound()
	s.out.inverse = slices.Clone(s.e.rows.Inverse())
	return s.e.failed
}

// smoothed returns the smoothed prolongator, or R' if e is made of A'.
func (s *coarsening) smoothed(e *extended) (*Matrix[float64], error) {
	c, k := s.sys.comm, s.near.count()
	byUnknown := make([]int32, 2*s.a.Part.Rows)
	for i := range s.nodes {
		for u, end := s.span(i); u < end; u++ {
			copy(byUnknown[2*u:], s.aggregate[2*i:2*i+2])
		}
	}
	placed, err := fetched(e, c, byUnknown, 2)
	if err != nil {
		return nil, err
	}
	t, err := fetched(e, c, s.t, k)
	if err != nil {
		return nil, err
	}
	coarse, err := fetched(e, c, s.coarse, 1)
	if err != nil {
		return nil, err
	}
	var found []int32
	for i := 0; i < len(placed); i += 2 {
		if placed[i] < placed[i+1] {
			found = append(found, placed[i])
		}
	}
	slices.Sort(found)
	found = slices.Compact(found)
	size, at0 := make([]int32, len(found)), make([]float64, len(found)) // columns of an aggregate, near null vector at the first
	of := make([]int32, len(e.node))
	for i := range of {
		u := e.first[i]
		at, ok := slices.BinarySearch(found, placed[2*u])
		if of[i] = int32(at); !ok {
			of[i] = -1
			continue
		}
		size[at], at0[at] = placed[2*u+1]-placed[2*u], coarse[u]
	}
	first, column := make([]int32, 1, len(found)+1), []int32{}
	near := make([][]float64, k)
	for g, n := range size {
		first = append(first, first[g]+n)
		near[0] = append(near[0], append([]float64{at0[g]}, make([]float64, n-1)...)...)
		for u := range n {
			column = append(column, found[g]+u)
		}
	}
	p := &Matrix[float64]{Rows: s.a.Rows, Cols: s.cut[len(s.cut)-1], RowCut: s.a.RowCut, ColCut: s.cut, rank: s.a.rank}
	p.Part = e.rows.Smoothed(of, first, t, near, s.out.rho)
	p.Part.Cols = p.Cols
	for i, j := range p.Part.ColIdx {
		p.Part.ColIdx[i] = column[j]
	}
	p.NNZ, err = sumInt(c, p.Part.NNZ())
	return p, err
}

// blocks returns the entries of this rank's rows of m that are within nodes.
func (s *coarsening) blocks(m *Matrix[float64]) *Matrix[float64] {
	a, d := m.Part, *m
	d.Part = &sparse.CSR[float64]{Rows: a.Rows, Cols: a.Cols, RowPtr: make([]int64, 1, a.Rows+1)}
	for i := range s.nodes {
		lo, end := s.span(i)
		for u := lo; u < end; u++ {
			for k := a.RowPtr[u]; k < a.RowPtr[u+1]; k++ {
				if j := a.ColIdx[k] - int32(m.First()); j >= lo && j < end {
					d.Part.ColIdx, d.Part.Val = append(d.Part.ColIdx, a.ColIdx[k]), append(d.Part.Val, a.Val[k])
				}
			}
			d.Part.RowPtr = append(d.Part.RowPtr, int64(len(d.Part.Val)))
		}
	}
	return &d
}
