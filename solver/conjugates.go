package solver

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/msrep-go/msrep/internal/vec"
	"github.com/msrep-go/msrep/msrep"
)

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
	if c.host.err != nil {
		return c.host.err
	}
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
		c.settle(j)
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
	if len(c.columns) == 0 || c.host.err != nil {
		return c.host.err
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
	err := share(c.a, (c.host.n+rows-1)/rows, func(from, to int) {
		for k := from; k < to; k++ {
			f(k, k*rows*m, min((k+1)*rows, c.host.n)*m)
		}
	})
	if c.host.err == nil {
		c.host.err = err
	}
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
