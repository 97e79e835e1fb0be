package graph

import (
	"context"
	"math"
	"time"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/solver/internal/space"
	"github.com/msrep-go/msrep/sparse"
)

// Seeds is a teleport vector by its elements that are not 0.
type Seeds struct {
	Nodes   []int32   // each node at most once; nil means all nodes in order
	Weights []float64 // one for each of Nodes, finite and not negative; nil means equal weights. They are divided by their sum.
}

// Teleport returns the vector for Options.Teleport for a graph of n nodes.
func (s Seeds) Teleport(n int) ([]float64, error) {
	scaled, err := s.scaled(n)
	if err != nil {
		return nil, err
	}
	v := make([]float64, n)
	for k, i := range scaled.Nodes {
		v[i] = scaled.Weights[k]
	}
	return v, nil
}

// scaled returns s with nodes, and with weights whose sum is 1.
func (s Seeds) scaled(n int) (Seeds, error) {
	if s.Nodes == nil {
		s.Nodes = make([]int32, n)
		for i := range s.Nodes {
			s.Nodes[i] = int32(i)
		}
	}
	if len(s.Nodes) == 0 {
		return s, sparse.Inputf("seeds", "no node is given")
	}
	weights := s.Weights
	if weights == nil {
		weights = make([]float64, len(s.Nodes))
		for k := range weights {
			weights[k] = 1
		}
	}
	seen := make(map[int32]bool, len(s.Nodes))
	for _, i := range s.Nodes {
		if i < 0 || int(i) >= n {
			return s, sparse.Inputf("seeds", "node %d: the graph has the nodes 0 to %d", i, n-1)
		}
		if seen[i] {
			return s, sparse.Inputf("seeds", "node %d is given twice", i)
		}
		seen[i] = true
	}
	var err error
	s.Weights, err = scaled("seeds", weights, len(s.Nodes))
	return s, err
}

// ManyOperator is an operator that multiplies several vectors at once, as a *msrep.Plan does.
type ManyOperator interface {
	msrep.Operator[float64]
	// SpMM computes Y = alpha*op(A)*X + beta*Y; see msrep.Plan.SpMM.
	SpMM(ctx context.Context, op msrep.Transpose, alpha float64, x msrep.MultiVector[float64], beta float64, y msrep.MultiVector[float64]) error
}

// manyAtOnce is the number of vectors of a product of PageRanks. Beyond 16, a product takes about the same time for
// each vector.
const manyAtOnce = 16

// PageRanks computes the personalised PageRank of each of many seeds. Products with up to 16 vectors at once read the
// links once for all of them; a vector that has converged makes place for the next seed. links and out are those of
// PageRankOver; links must not be Distributed.
//
// done is called with each result as soon as it is there, in any order, from the goroutine of the caller; k is the index
// of its seeds. The result has Ranks, Iterations, Residual, Converged and Dangling; done may keep it. An error of done
// ends PageRanks, which returns it. opt.Teleport and opt.Start must be nil: the iteration starts from the seeds.
func PageRanks(ctx context.Context, links ManyOperator, out []float64, seeds []Seeds, opt Options, done func(k int, r *Result) error) error {
	if opt.Teleport != nil || opt.Start != nil {
		return sparse.Inputf("options", "a teleport or start vector is given: PageRanks takes these from the seeds")
	}
	if done == nil {
		return sparse.Inputf("done", "is nil: PageRanks passes the results to it")
	}
	op, err := operatorFor(ctx, links, out, &opt, 2)
	if err != nil {
		return err
	}
	if op.procs != nil {
		return sparse.Inputf("matrix", "is distributed over processes: PageRanks needs all links in one")
	}
	all := make([]Seeds, len(seeds))
	for k := range seeds {
		if all[k], err = seeds[k].scaled(op.nodes); err != nil {
			return err
		}
	}
	m := &manyRanker{operator: op, many: links, out: out, opt: opt, seeds: all}
	for i, w := range out {
		if w == 0 {
			m.dangling = append(m.dangling, int32(i))
		}
	}
	m.width = min(manyAtOnce, len(all))
	for m.width > 1 && !fits(op.nodes, m.width) {
		m.width /= 2
	}
	if m.width == 0 {
		return nil
	}
	m.cur, m.next = make([]float64, op.nodes*m.width), make([]float64, op.nodes*m.width)
	for m.started < len(all) && len(m.columns) < m.width {
		m.columns = append(m.columns, column{})
		m.load(len(m.columns)-1, m.cur)
	}
	for len(m.columns) > 0 {
		if err := op.stop(); err != nil {
			return err
		}
		if err := m.step(done); err != nil {
			return err
		}
	}
	return nil
}

// fits reports whether two blocks of width vectors of n elements fit in memory.
func fits(n, width int) bool {
	_, ok := mem.Fits(16 * int64(n) * int64(width))
	return ok
}

// manyRanker iterates the ranks for several seeds at once. Element i of column j of a block is at i*width+j; it is the
// rank divided by divisor(out, i), as in operatorRanker.
type manyRanker struct {
	*operator
	many      ManyOperator
	out       []float64
	dangling  []int32
	opt       Options
	seeds     []Seeds
	started   int // seeds that have been loaded
	width     int
	columns   []column
	cur, next []float64
}

// column is the ranking in a column of the blocks.
type column struct {
	seed      int
	iteration int
	begin     time.Time
}

// load starts the next seed in column j of block.
func (m *manyRanker) load(j int, block []float64) {
	m.columns[j] = column{seed: m.started, begin: time.Now()}
	for i := range m.nodes {
		block[i*m.width+j] = 0
	}
	s := &m.seeds[m.started]
	for k, i := range s.Nodes {
		block[int(i)*m.width+j] = s.Weights[k] / divisor(m.out, int(i))
	}
	m.started++
}

// step runs one iteration of all columns and passes on those that have ended.
func (m *manyRanker) step(done func(k int, r *Result) error) error {
	count := len(m.columns)
	x := msrep.MultiVector[float64]{Val: m.cur, Count: count, Stride: m.width}
	y := msrep.MultiVector[float64]{Val: m.next, Count: count, Stride: m.width}
	if err := m.many.SpMM(m.ctx, msrep.NoTrans, m.opt.Damping, x, 0, y); err != nil {
		return err
	}
	dangling := make([]float64, count)
	for _, i := range m.dangling {
		for j, p := range m.cur[int(i)*m.width:][:count] {
			dangling[j] += p
		}
	}
	adds := make([]float64, count)
	for j, c := range m.columns {
		opt, s := m.opt, &m.seeds[c.seed]
		opt.Teleport = s.Weights // restart asks only whether there is one
		var jump float64
		adds[j], jump = opt.restart(dangling[j], m.nodes)
		for k, i := range s.Nodes {
			m.next[int(i)*m.width+j] += float64(jump * s.Weights[k])
		}
	}
	diffs := make([]float64, count)
	err := m.sum(nil, diffs, func(lo, hi int, s []float64) {
		for i := lo; i < hi; i++ {
			d := divisor(m.out, i)
			cur, next := m.cur[i*m.width:][:count], m.next[i*m.width:][:count]
			for j, add := range adds {
				next[j] = (next[j] + add) / d
				s[j] += float64(math.Abs(next[j]-cur[j]) * d)
			}
		}
	})
	if err != nil {
		return err
	}
	m.cur, m.next = m.next, m.cur
	for j := count - 1; j >= 0; j-- {
		c := &m.columns[j]
		c.iteration++
		if !space.Finite(diffs[j]) {
			return diverged("pagerank", "a rank is not finite after %d iterations", c.iteration)
		}
		converged := diffs[j] < m.opt.Tol
		if !converged && c.iteration < m.opt.MaxIter {
			continue
		}
		res := &Result{
			Ranks: m.ranks(j), Iterations: c.iteration, Residual: diffs[j], Converged: converged, Dangling: len(m.dangling),
			Format: m.opt.Format, BySegments: map[int]int{1: c.iteration}, Seconds: map[int]float64{1: time.Since(c.begin).Seconds()},
			Timing: Timing{Iterate: time.Since(c.begin)},
		}
		if err := done(c.seed, res); err != nil {
			return err
		}
		m.replace(j)
	}
	return nil
}

// ranks returns the ranks in column j of cur.
func (m *manyRanker) ranks(j int) []float64 {
	p := make([]float64, m.nodes)
	for i := range p {
		p[i] = m.cur[i*m.width+j] * divisor(m.out, i)
	}
	return p
}

// replace loads the next seed into column j of cur. If there is none, it moves the last column there.
func (m *manyRanker) replace(j int) {
	if m.started < len(m.seeds) {
		m.load(j, m.cur)
		return
	}
	last := len(m.columns) - 1
	if j != last {
		for i := range m.nodes {
			m.cur[i*m.width+j] = m.cur[i*m.width+last]
		}
		m.columns[j] = m.columns[last]
	}
	m.columns = m.columns[:last]
	if last > 0 && 2*last <= m.width { // halve the distance of rows, in place
		for i := range m.nodes {
			copy(m.cur[i*last:i*last+last], m.cur[i*m.width:i*m.width+last])
		}
		m.width = last
	}
}
