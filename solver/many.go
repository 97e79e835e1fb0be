package solver

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/internal/vec"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
)

// ManyOperator is an Operator that multiplies several vectors at once. A
// *msrep.Plan[float64] is one.
type ManyOperator interface {
	Operator
	// SpMM computes Y = alpha*op(A)*X + beta*Y; see msrep.Plan.SpMM.
	SpMM(ctx context.Context, op msrep.Op, alpha float64, x msrep.Block[float64], beta float64, y msrep.Block[float64]) (msrep.Timing, error)
}

var _ ManyOperator = (*msrep.Plan[float64])(nil)

// CGMany solves A x_j = b_j for several right-hand sides by CG, all at once: an
// iteration multiplies all directions by A in one SpMM, which reads the matrix once.
// Each system has its own CG, and drops out when it has converged or given up; what is
// left moves together.
//
// The vectors of b and x are the systems; x has the first guesses and takes the
// solutions. The results are those of the systems, in order; Products counts the
// products that a system took part in, and Timing is of the whole. Options.Progress
// hears the largest relative residual of the systems that an iteration had.
//
// The error joins those of the systems that did not converge, each a
// *ConvergenceError behind the number of the system. Other errors are those of CG and
// come without results. The vectors are kept in host memory, also with devices that
// have their own. It keeps 4 vectors for each system, 5 with a preconditioner.
func CGMany(ctx context.Context, a ManyOperator, b, x msrep.Block[float64], opt Options) ([]*Result, error) {
	switch {
	case ctx == nil:
		return nil, sparse.Inputf("ctx", "is nil: use context.Background()")
	case isNil(a):
		return nil, sparse.Inputf("matrix", "is nil")
	}
	n, err := checkMany(a, b, x)
	if err != nil {
		return nil, err
	}
	if err := opt.fill(n); err != nil {
		return nil, err
	}
	if err := checkPrecond(opt.Precond, n); err != nil {
		return nil, err
	}
	c := newConjugates(ctx, a, b, x, opt)
	if err := c.start(); err != nil {
		return nil, err
	}
	for len(c.columns) > 0 {
		if err := c.iterate(); err != nil {
			return nil, err
		}
	}
	return c.results()
}

// checkMany checks the shapes and the numbers of the systems.
func checkMany(a Operator, b, x msrep.Block[float64]) (n int, err error) {
	n, cols := a.Dims()
	if n != cols {
		return n, sparse.Inputf("matrix", "%d x %d: a system that is solved is square", n, cols)
	}
	if b.Count != x.Count {
		return n, sparse.Inputf("x", "%d vectors: b has %d", x.Count, b.Count)
	}
	for _, v := range []struct {
		name  string
		block msrep.Block[float64]
	}{{"b", b}, {"x", x}} {
		if err := v.block.Check(v.name, n); err != nil {
			return n, err
		}
		column := make([]float64, n)
		for j := range v.block.Count {
			v.block.Get(j, column)
			for i, e := range column {
				if !finite(e) {
					return n, sparse.Inputf(v.name, "element %d of vector %d is %g: all must be finite", i, j, e)
				}
			}
		}
	}
	if overlap(b.Val, x.Val) {
		return n, sparse.Inputf("x", "shares memory with b: the method would overwrite it")
	}
	return n, nil
}

// conjugates is the CGs of several systems. Their vectors lie row by row: element i
// of column j is v[i*m+j], m = len(columns).
type conjugates struct {
	host          *hostSpace // of one system at a time
	one, right, r vector     // its x, b and residual
	a             ManyOperator
	b, out        msrep.Block[float64]
	opt           Options
	begin         time.Time
	round         int

	columns   []*column // those that are not done
	all       []*column
	x, res, p []float64
	q, z      []float64 // z is res without a preconditioner
	rz        []float64 // r'z of each column
}

// column is the CG of one right-hand side.
type column struct {
	*task
	number  int
	exp     int     // b and x are divided by 2^exp
	rr      float64 // r'r
	restart bool    // its residual was computed anew
	done    bool
	err     error
}

func newConjugates(ctx context.Context, a ManyOperator, b, x msrep.Block[float64], opt Options) *conjugates {
	n, _ := a.Dims()
	c := &conjugates{a: a, b: b, out: x, opt: opt, begin: time.Now()}
	c.host, c.right, c.one = newHostSpace(ctx, a, opt.Precond, nil, make([]float64, n), make([]float64, n))
	c.r = c.host.zero()
	quiet := opt
	quiet.Progress = nil
	for j := range b.Count {
		t := &task{space: c.host, method: "cg", opt: quiet, b: c.right, x: c.one, window: n + 1000, res: &Result{}}
		s := &column{task: t, number: j}
		b.Get(j, c.host.v[c.right])
		s.exp = exponent(largestOf(c.host.v[c.right]))
		scaleBy(c.host.v[c.right], -s.exp)
		t.norm = math.Sqrt(t.dot(t.b, t.b))
		c.all = append(c.all, s)
	}
	return c
}

// start makes the first residuals and directions.
func (c *conjugates) start() error {
	for _, s := range c.all {
		if s.norm != 0 {
			c.columns = append(c.columns, s)
			continue
		}
		s.res.Converged, s.res.History = true, []float64{0} // x = 0 is the solution
		c.out.Set(s.number, make([]float64, c.host.n))
	}
	size := c.host.n * len(c.columns)
	c.x, c.res, c.p, c.q = make([]float64, size), make([]float64, size), make([]float64, size), make([]float64, size)
	c.z = c.res
	if c.opt.Precond != nil {
		c.z = make([]float64, size)
	}
	guess := c.host.v[c.one]
	for j, s := range c.columns {
		c.out.Get(s.number, guess)
		if scaleBy(guess, -s.exp); slices.ContainsFunc(guess, func(v float64) bool { return !finite(v) }) {
			clear(guess) // too far from the solution to be told in these units
		}
		c.block(c.x).Set(j, guess)
		c.load(s)
		c.block(c.res).Set(j, c.host.v[c.right])
	}
	if err := c.multiply(-1, c.x, 1, c.res); err != nil {
		return err
	}
	for j, rr := range c.sums(func(lo, hi int, sums []float64) { vec.DotMany(c.res[lo:hi], c.res[lo:hi], sums) }) {
		s := c.columns[j]
		s.rr = rr
		s.done, s.err = s.begin(math.Sqrt(rr)/s.norm, 0.5)
		if s.err != nil {
			c.settle(j, s.err)
		}
	}
	c.compact()
	return c.turn(true)
}

// load brings the right-hand side of a system to the space for one.
func (c *conjugates) load(s *column) {
	b := c.host.v[c.right]
	c.b.Get(s.number, b)
	scaleBy(b, -s.exp)
}

// block is vectors of this solve as a block.
func (c *conjugates) block(v []float64) msrep.Block[float64] { return msrep.ByRow(v, len(c.columns)) }

// multiply is y = a*A*x + b*y for all columns.
func (c *conjugates) multiply(a float64, x []float64, b float64, y []float64) error {
	if len(c.columns) == 0 {
		return nil
	}
	t := time.Now()
	_, err := c.a.SpMM(c.host.ctx, msrep.NoTrans, a, c.block(x), b, c.block(y))
	c.host.products += time.Since(t)
	for _, s := range c.columns {
		s.res.Products++
	}
	return err
}

// blocks calls f for all blocks of rows, as ranges of the elements.
func (c *conjugates) blocks(f func(k, lo, hi int)) {
	m := len(c.columns)
	rows := max(SumBlock/max(m, 1), 1)
	par.Range(int64((c.host.n+rows-1)/rows), grain, func(from, to int64) {
		for k := int(from); k < int(to); k++ {
			f(k, k*rows*m, min((k+1)*rows, c.host.n)*m)
		}
	})
}

// sums calls f for all blocks, and gives what it adds up for each column.
func (c *conjugates) sums(f func(lo, hi int, sums []float64)) []float64 {
	m := len(c.columns)
	rows := max(SumBlock/max(m, 1), 1)
	part := make([]float64, (c.host.n+rows-1)/rows*m)
	c.blocks(func(k, lo, hi int) { f(lo, hi, part[k*m:(k+1)*m]) })
	out := make([]float64, m)
	if m > 0 {
		addBlocks(part, out)
	}
	return out
}

// iterate does an iteration of all systems.
func (c *conjugates) iterate() error {
	if err := c.multiply(1, c.p, 0, c.q); err != nil {
		return err
	}
	pq := c.sums(func(lo, hi int, sums []float64) { vec.DotMany(c.p[lo:hi], c.q[lo:hi], sums) })
	alpha := make([]float64, len(pq))
	for j, s := range c.columns {
		if why := notPositive(c.rz[j], pq[j]); why != "" {
			s.done, s.err = true, s.give(ErrBreakdown, "%s", why)
			continue // alpha = 0: it stays where it is
		}
		alpha[j] = c.rz[j] / pq[j]
	}
	rr := c.sums(func(lo, hi int, sums []float64) {
		vec.StepMany(alpha, c.p[lo:hi], c.q[lo:hi], c.x[lo:hi], c.res[lo:hi], sums)
	})
	c.round++
	worst := 0.0
	for j, s := range c.columns {
		if s.rr = rr[j]; !s.done {
			worst = max(worst, math.Sqrt(rr[j])/s.norm)
			if err := c.note(j, math.Sqrt(rr[j])); err != nil {
				return err
			}
		}
	}
	if c.opt.Progress != nil {
		c.opt.Progress(c.round, worst)
	}
	for j, s := range c.columns {
		if s.err != nil {
			c.settle(j, s.err)
			if err := c.host.err; err != nil {
				return err
			}
		}
	}
	c.compact()
	return c.turn(false)
}

// note ends an iteration of a system.
func (c *conjugates) note(j int, norm float64) error {
	s := c.columns[j]
	near, err := s.note(norm)
	var gaveUp *ConvergenceError
	switch {
	case err != nil && !errors.As(err, &gaveUp):
		return err
	case err != nil:
		s.done, s.err = true, err
	case near: // says the recurrence
		c.load(s)
		c.block(c.x).Get(j, c.host.v[c.one])
		s.res.Products++
		s.done, s.err = s.start(c.r, 0.5)
		if !s.done {
			c.block(c.res).Set(j, c.host.v[c.r])
			s.restart = true
			s.rr = s.dot(c.r, c.r)
		}
	}
	return c.host.err
}

// settle judges a system that gave up.
func (c *conjugates) settle(j int, err error) {
	s := c.columns[j]
	c.load(s)
	c.block(c.x).Get(j, c.host.v[c.one])
	s.res.Products++
	s.done, s.err = true, s.judge(err)
}

// compact takes out the columns that are done, and gives their solutions.
func (c *conjugates) compact() {
	var keep []int
	for j, s := range c.columns {
		if !s.done {
			keep = append(keep, j)
			continue
		}
		x := c.host.v[c.one]
		c.block(c.x).Get(j, x)
		scaleBy(x, s.exp)
		c.out.Set(s.number, x)
	}
	m, left := len(c.columns), len(keep)
	if left == m {
		return
	}
	vectors := []*[]float64{&c.x, &c.res, &c.p, &c.q}
	if c.opt.Precond != nil {
		vectors = append(vectors, &c.z)
	}
	for _, v := range vectors {
		for i := range c.host.n {
			for to, from := range keep {
				(*v)[i*left+to] = (*v)[i*m+from]
			}
		}
		*v = (*v)[:c.host.n*left]
	}
	if c.opt.Precond == nil {
		c.z = c.res
	}
	var columns []*column
	var rz []float64
	for _, j := range keep {
		columns = append(columns, c.columns[j])
		if c.rz != nil {
			rz = append(rz, c.rz[j])
		}
	}
	c.columns, c.rz = columns, rz
}

// turn makes the next directions, from the residuals alone where a system begins.
func (c *conjugates) turn(first bool) error {
	if err := c.precondition(); err != nil {
		return err
	}
	next := make([]float64, len(c.columns))
	if c.opt.Precond != nil {
		next = c.sums(func(lo, hi int, sums []float64) { vec.DotMany(c.res[lo:hi], c.z[lo:hi], sums) })
	}
	beta := make([]float64, len(next))
	for j, s := range c.columns {
		if c.opt.Precond == nil {
			next[j] = s.rr
		}
		if !first && !s.restart {
			beta[j] = next[j] / c.rz[j]
		}
		s.restart = false
	}
	c.blocks(func(_, lo, hi int) { vec.XpbyMany(c.z[lo:hi], beta, c.p[lo:hi]) })
	c.rz = next
	return nil
}

// precondition is z = M*r, column by column.
func (c *conjugates) precondition() error {
	if c.opt.Precond == nil {
		return nil
	}
	t := time.Now()
	defer func() { c.host.precond += time.Since(t) }()
	if m, ok := c.opt.Precond.(*jacobi); ok {
		cols := len(c.columns)
		c.blocks(func(_, lo, hi int) {
			for i := lo; i < hi; i++ {
				c.z[i] = m.inverse[i/cols] * c.res[i]
			}
		})
		return nil
	}
	r, z := c.host.v[c.r], c.host.v[c.one]
	for j := range c.columns {
		c.block(c.res).Get(j, r)
		if err := c.opt.Precond.Apply(r, z); err != nil {
			return err
		}
		c.block(c.z).Set(j, z)
	}
	return nil
}

// results is what the systems leave.
func (c *conjugates) results() (out []*Result, err error) {
	var errs []error
	timing := Timing{Products: c.host.products, Precond: c.host.precond, Total: time.Since(c.begin)}
	for _, s := range c.all {
		s.res.Timing = timing
		out = append(out, s.res)
		if s.err != nil {
			errs = append(errs, fmt.Errorf("system %d: %w", s.number, s.err))
		}
	}
	return out, errors.Join(errs...)
}
