package solver

import (
	"context"
	"math"
	"time"

	"github.com/msrep-go/msrep/internal/vec"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/solver/internal/space"
)

// manyCG is the state of CGMany. Its vectors are stored row by row: element i of column j is v[i*m+j], m = len(columns).
type manyCG struct {
	host          *space.Host  // vectors for work on one system at a time
	one, right, r space.Vector // x, b and residual of that system
	a             ManyOperator
	b, out        msrep.MultiVector[float64]
	opt           Options
	begin         time.Time
	iterations    int

	columns   []*column // the systems that still iterate
	all       []*column
	x, res, p []float64
	q         []float64 // first A*p, then M*res
}

// column is the CG of one system.
type column struct {
	*task
	number   int
	alpha    float64 // the step alpha*p that is not added to x yet
	rr       float64 // r'r
	rz       float64 // r'M*r
	previous float64 // r'M*r of the previous step; 0 after a restart
	near     bool    // within the tolerance by the recurrence
	done     bool
	err      error
}

// newManyCG makes the columns and loads the vectors. sizes scales each system.
func newManyCG(ctx context.Context, a ManyOperator, b, x msrep.MultiVector[float64], sizes magnitudes, opt Options) *manyCG {
	n, _ := a.Dims()
	c := &manyCG{a: a, b: b, out: x, opt: opt, begin: time.Now()}
	c.host = space.NewHost(ctx, a, opt.Precond, nil)
	c.right, c.one = c.host.Load(make([]float64, n), make([]float64, n))
	c.r = c.host.Zero()
	quiet := opt
	quiet.Progress = nil
	for j, largest := range sizes.b {
		t := &task{Space: c.host, method: "cg", opt: quiet, b: c.right, x: c.one, exp: space.Exponent(largest), window: n + 1000, res: &Result{}}
		s := &column{task: t, number: j}
		c.all = append(c.all, s)
		if largest != 0 {
			c.columns = append(c.columns, s)
			continue
		}
		s.res.Converged, s.res.History = true, []float64{0} // x = 0 is the solution
		c.out.Set(j, make([]float64, n))
	}
	for i, v := range c.vectors() {
		off := i * space.Stagger // see hostSpace.zero
		*v = make([]float64, n*len(c.columns)+off)[off:]
	}
	c.host.Each(c.host.N, func(lo, hi int) {
		for ; lo < hi; lo += manyRows {
			c.load(lo, min(lo+manyRows, hi), sizes)
		}
	})
	return c
}

// load copies the rows [lo, hi) of the first guesses to x and of b to res, scaled.
func (c *manyCG) load(lo, hi int, sizes magnitudes) {
	part := make([]float64, hi-lo)
	get := func(from msrep.MultiVector[float64], s *column, to []float64, j int) {
		rowsFrom(from, lo).Get(s.number, part)
		space.ScaleBy(part, -s.exp)
		rowsFrom(c.multiVector(to), lo).Set(j, part)
	}
	for j, s := range c.columns {
		get(c.b, s, c.res, j)
		if space.Finite(math.Ldexp(sizes.x[s.number], -s.exp)) { // else the scaled first guess overflows: start from 0
			get(c.out, s, c.x, j)
		}
	}
}

// start computes the first residuals and directions.
func (c *manyCG) start() error {
	if c.host.Err != nil || len(c.columns) == 0 {
		return c.host.Err
	}
	bb, _ := c.sums(func(lo, hi int, s, _ []float64) { vec.DotMany(c.res[lo:hi], c.res[lo:hi], s) })
	if err := c.multiply(-1, c.x, 1, c.res); err != nil {
		return err
	}
	c.updateResiduals() // with alpha = 0: computes r'r and r'M*r
	for j, s := range c.columns {
		s.norm = math.Sqrt(bb[j])
		var done bool
		if done, s.err = s.startFrom(math.Sqrt(s.rr)/s.norm, 0.5); done {
			c.fetch(j)
			c.close(s)
		}
	}
	c.removeDone()
	return c.updateDirections()
}

// vectors returns the vectors that are stored row by row.
func (c *manyCG) vectors() []*[]float64 { return []*[]float64{&c.x, &c.res, &c.p, &c.q} }

// multiVector returns v as an argument of SpMM.
func (c *manyCG) multiVector(v []float64) msrep.MultiVector[float64] {
	return msrep.MultiVectorByRow(v, len(c.columns))
}

// manyRows is the number of rows of several vectors that stay in a cache while the vectors are read one by one.
const manyRows = 256

// rowsFrom returns v without the rows before lo.
func rowsFrom(v msrep.MultiVector[float64], lo int) msrep.MultiVector[float64] {
	if !v.ByColumn {
		lo *= v.Stride
	}
	v.Val = v.Val[lo:]
	return v
}

// multiply computes y = a*A*x + b*y for all columns.
func (c *manyCG) multiply(a float64, x []float64, b float64, y []float64) error {
	if c.host.Err != nil {
		return c.host.Err
	}
	t := time.Now()
	err := c.a.SpMM(c.host.Ctx, msrep.NoTrans, a, c.multiVector(x), b, c.multiVector(y))
	c.host.Products += time.Since(t)
	for _, s := range c.columns {
		s.res.Products++
	}
	return err
}

// eachChunk calls f for each chunk k in [from, to), with its range [lo, hi) of elements.
func (c *manyCG) eachChunk(from, to int, f func(k, lo, hi int)) {
	m, size := len(c.columns), c.chunkSize()
	for k := from; k < to; k++ {
		f(k, k*size, min((k+1)*size, c.host.N*m))
	}
}

// chunkSize returns the number of elements of a chunk: about SumChunk, and a multiple of vec.Parts.
func (c *manyCG) chunkSize() int {
	parts := vec.Parts(len(c.columns))
	return max(SumChunk/parts, 1) * parts
}

// onWorkers calls f for ranges of chunks that together are all chunks, on the workers.
func (c *manyCG) onWorkers(f func(from, to int)) {
	size := c.chunkSize()
	err := space.OnWorkers(c.a, (c.host.N*len(c.columns)+size-1)/size, f)
	if c.host.Err == nil {
		c.host.Err = err
	}
}

// sums calls f for each chunk [lo, hi) and returns, for each column, the totals of what f adds to its partial sums s and
// t.
func (c *manyCG) sums(f func(lo, hi int, s, t []float64)) (ss, ts []float64) {
	m, parts, size := len(c.columns), vec.Parts(len(c.columns)), c.chunkSize()
	chunks := make([]float64, (c.host.N*m+size-1)/size*2*m)
	c.onWorkers(func(from, to int) {
		all := make([]float64, 2*parts)
		s, t := all[:parts], all[parts:]
		c.eachChunk(from, to, func(k, lo, hi int) {
			clear(all)
			f(lo, hi, s, t)
			vec.Totals(s, chunks[2*k*m:][:m])
			vec.Totals(t, chunks[(2*k+1)*m:][:m])
		})
	})
	out := make([]float64, 2*m)
	space.AddChunks(chunks, out)
	return out[:m], out[m:]
}

// factors returns a number of each column, repeated by vec.Repeat.
func (c *manyCG) factors(of func(s *column) float64) []float64 {
	out := make([]float64, len(c.columns))
	for j, s := range c.columns {
		out[j] = of(s)
	}
	return vec.Repeat(out)
}

// removeDone removes the columns that are done from the vectors.
func (c *manyCG) removeDone() {
	var keep []int
	var columns []*column
	for j, s := range c.columns {
		if !s.done {
			keep, columns = append(keep, j), append(columns, s)
		}
	}
	m, left := len(c.columns), len(keep)
	if left == m {
		return
	}
	for _, v := range c.vectors() {
		for i := range c.host.N {
			for to, from := range keep {
				(*v)[i*left+to] = (*v)[i*m+from]
			}
		}
		*v = (*v)[:c.host.N*left]
	}
	c.columns = columns
}
