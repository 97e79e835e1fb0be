package eigen

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"time"

	"github.com/msrep-go/msrep/internal/given"
	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/solver"
	"github.com/msrep-go/msrep/solver/internal/space"
	"github.com/msrep-go/msrep/sparse"
)

// run is the state of one search for eigenvalues or singular values.
type run struct {
	space.Space
	opt    Options
	method string
	n      int // length of the whole vectors; of singular vectors, the smaller one
	piece  int // length of the vectors in this process
	begin  time.Time

	scale    float64 // products are with scale*A, a power of 2 that keeps squares in range
	norm     float64 // largest magnitude of an approximate eigenvalue of scale*A so far
	relative bool    // residuals are relative to each eigenvalue, not to the norm
	seed     uint64
	apply    func(v, w space.Vector) // w = scale*A v, or scale^2*A'A v for singular values
	pool
	ritz       map[space.Vector]float64 // v'Av of the vectors v that a search has found
	x          space.Vector             // the vector that Load got
	several    bool                     // the operator is over several processes
	fixed      bool                     // the basis does not grow
	iterations int
	restarts   int
}

// newRun checks the arguments and returns a run for a square operator. start is its first vector.
func newRun(ctx context.Context, method string, a solver.Operator, m solver.Preconditioner, opt Options) (r *run, err error) {
	if err := cmp.Or(given.Context(ctx), given.Check("matrix", a)); err != nil {
		return nil, err
	}
	rows, cols := a.Dims()
	r = &run{method: method, n: rows, piece: rows, begin: time.Now(), scale: 1}
	all, err := space.NewProcesses(a)
	if all != nil {
		_, r.n = all.Op.Piece()
		r.several = true
	}
	if err == nil {
		err = r.check(rows, cols, m, opt)
	}
	var device space.Resident
	if err == nil {
		device = space.OnDevices(a, all, false)
	}
	if r.fixed = device != nil; err == nil && !r.fixed { // devices report lack of memory themselves
		err = r.fit(r.vectors())
	}
	if all != nil {
		o, unused := &r.opt, 0.0
		err = all.Begin(ctx, &unused, err, float64(o.Count), o.Tol, float64(o.MaxIter), float64(o.Basis), float64(len(o.Which)), float64(o.Seed>>32), float64(uint32(o.Seed)))
	}
	if err != nil {
		return nil, err
	}
	if device != nil {
		r.Space = space.NewDevice(ctx, device, m, all)
	} else {
		r.Space = space.NewHost(ctx, a, m, all)
	}
	start := make([]float64, rows) // devices write to it
	copy(start, r.opt.Start)
	r.seed, r.zero, r.apply = r.opt.Seed*1000+1, r.Zero, func(v, w space.Vector) { r.Product(r.scale, v, 0, w) }
	_, r.x = r.Load(nil, start)
	return r, nil
}

// check checks the arguments for an operator of rows x cols and sets the defaults.
func (r *run) check(rows, cols int, m solver.Preconditioner, opt Options) error {
	r.opt = opt // with defaults below
	switch {
	case rows != cols:
		return sparse.Inputf("matrix", "%d x %d: a matrix with eigenvalues is square; see singular values", rows, cols)
	case r.n == 0:
		return sparse.Inputf("matrix", "0 x 0: an empty matrix has no eigenvalues")
	case r.opt.Which == Near:
		return sparse.Inputf("which", "near: an operator has no factors; use Solve")
	}
	if m != nil && given.Nothing(m) {
		return sparse.Inputf("preconditioner", "is a nil %T: for none leave it out", m)
	}
	if m != nil && m.Size() != rows {
		return sparse.Inputf("preconditioner", "made for %d rows: the matrix has %d", m.Size(), rows)
	}
	return r.opt.fill(r.n, rows)
}

// vectors returns the number of vectors that the run stores at first.
func (r *run) vectors() int {
	if r.method == MethodLOBPCG && 3*r.blockSize() <= r.n {
		return 6*r.blockSize() + 2*farVectors + 2
	}
	return basisSize(r.opt.Basis, r.opt.Count, r.n) + 2
}

// reserve provides memory for count vectors of this length until Free, if they are in host memory.
func (r *run) reserve(count, length int) {
	if h, ok := r.Space.(*space.Host); ok {
		h.Reserve(count, length)
	}
}

// blockSize returns the number of vectors in a block of LOBPCG.
func (r *run) blockSize() int { return r.opt.Count + max(2, r.opt.Count/4) }

// fit returns an error where count vectors do not fit in host memory.
func (r *run) fit(count int) error {
	need := 8 * int64(count) * int64(r.piece)
	if have, ok := mem.Fits(need); !ok {
		return sparse.Inputf("k", "%d: the %d vectors of %d elements that %s keeps take %d bytes, %d are available", r.opt.Count, count, r.piece, r.method, need, have)
	}
	return nil
}

// pool has vectors of one length for reuse.
type pool struct {
	zero func() space.Vector
	free []space.Vector
}

// take returns count vectors whose elements are unspecified.
func (p *pool) take(count int) []space.Vector {
	for len(p.free) < count {
		p.free = append(p.free, p.zero())
	}
	last := len(p.free) - count
	v := append([]space.Vector(nil), p.free[last:]...)
	p.free = p.free[:last]
	return v
}

// give returns vectors that are no longer needed.
func (p *pool) give(v ...space.Vector) { p.free = append(p.free, v...) }

// random makes v a random unit vector that is orthogonal to the vectors against. It returns false if there is none: the
// vectors against span the whole space.
func (r *run) random(v space.Vector, against []space.Vector) bool {
	for range 3 { // a vector that happens to be almost in the span is drawn again
		r.seed++
		r.Random(v, r.seed)
		if r.orthogonal(v, against) {
			return true
		}
	}
	return false
}

// orthogonal makes v a unit vector that is orthogonal to the vectors against, or returns false where v is in their span
// but for rounding.
func (r *run) orthogonal(v space.Vector, against []space.Vector) bool {
	length := math.Sqrt(r.Dot(v, v))
	first := length
	for range 4 {
		if !(length > 1e-10*first) {
			return false
		}
		r.Set(1/length, v, v)
		if len(against) == 0 {
			return true
		}
		before := 1.0
		length = r.subtract(against, v)
		if length > 0.7*before { // no cancellation: v is orthogonal to working precision
			r.Set(1/length, v, v)
			return true
		}
		first = 1
	}
	return false
}

// subtract computes w = w - V V'w for orthonormal vectors V and returns |w|.
func (r *run) subtract(v []space.Vector, w space.Vector) float64 {
	g := r.Inner(v, []space.Vector{w})[0]
	return math.Sqrt(r.Combine(-1, g, v, w))
}

// remainder makes w, of this length, orthogonal to the orthonormal vectors v, and scales it to length 1. It returns the length
// that remained, or 0 where this is only a rounding error.
func (r *run) remainder(w space.Vector, v []space.Vector, length float64) float64 {
	if len(v) == 0 {
		return r.unit(w, length, length)
	}
	return r.remainderOf(r.Inner(v, []space.Vector{w})[0], w, v, length)
}

// remainderOf is remainder with g = v'w.
func (r *run) remainderOf(g []float64, w space.Vector, v []space.Vector, length float64) float64 {
	least, first := tiny*max(r.norm, length), length
	for range 4 {
		before := length
		length = math.Sqrt(r.Combine(-1, g, v, w))
		if length > 0.5*before || !(length > least) { // no cancellation: w is orthogonal to working precision
			break
		}
		g = r.Inner(v, []space.Vector{w})[0]
	}
	return r.unit(w, length, first)
}

// unit scales w to length 1 and returns its length, or returns 0 where the length is a rounding error. before was its length
// before parts of it were subtracted.
func (r *run) unit(w space.Vector, length, before float64) float64 {
	if !(length > tiny*max(r.norm, before)) {
		return 0
	}
	r.Set(1/length, w, w)
	return length
}

// tiny is the relative length below which a vector is a rounding error.
const tiny = 1e-14

// chooseScale sets the power of 2 by which products are multiplied, for the unit vector v; w is overwritten. Elements of
// the matrix of about 1e-200 or 1e200 have squares that underflow or overflow.
func (r *run) chooseScale(v, w space.Vector) error {
	const safe = 300 // binary exponent of a norm whose fourth power is a float64 with full precision
	const step = 120 // finds singular values of any size: apply multiplies by scale twice
	for i := range 17 {
		exp := (i + 1) / 2 * step
		if i%2 == 0 {
			exp = -exp
		}
		r.scale = math.Ldexp(1, exp)
		r.apply(v, w)
		squared := r.Dot(w, w)
		if err := r.Failed(); err != nil {
			return err
		}
		if squared > math.Ldexp(1, -safe) && squared < math.Ldexp(1, safe) {
			return nil
		}
	}
	r.scale = 1 // the zero matrix, or one that is not finite: the first step finds it
	return nil
}

// limit returns the largest residual of an eigenvalue of scale*A that is within the tolerance. Residuals computed at the
// end are a little larger than those of the recurrence.
func (r *run) limit(value float64) float64 {
	if r.relative {
		return max(0.1*r.opt.Tol, 2e-15) * math.Abs(value) // solves are few and cost much, and the norm of A counts in the end
	}
	return max(0.5*r.opt.Tol, 2e-15) * r.norm
}

// mayGrow reports whether the basis may grow by count vectors: not on devices, whose free memory is unknown. Several processes
// all grow, since they must decide alike.
func (r *run) mayGrow(count int) bool { return !r.fixed && (r.several || r.fit(count) == nil) }

// failure returns the error of a run that ends without its results.
func (r *run) failure(reason error, residual float64, format string, args ...any) error {
	return &solver.ConvergenceError{Method: r.method, Iterations: r.iterations, Residual: residual / max(r.norm, math.SmallestNonzeroFloat64),
		Detail: fmt.Sprintf(format, args...), Err: reason}
}

// pairs computes the eigenvalue and the residual of each unit vector v, and copies the vectors.
func (r *run) pairs(v []space.Vector) (*Result, error) {
	res := &Result{}
	spare := r.take(1)
	defer func() { r.give(spare...) }()
	w := spare[0]
	for _, v := range v {
		r.apply(v, w)
		value := r.Dot(v, w)
		residual := math.Sqrt(r.Axpy(-value, v, w))
		r.norm = max(r.norm, math.Abs(value))
		out := make([]float64, r.piece)
		r.Read(v, out)
		res.Values, res.Residuals, res.Vectors = append(res.Values, value), append(res.Residuals, residual), append(res.Vectors, out)
	}
	if err := r.Failed(); err != nil {
		return nil, err
	}
	for i := range res.Values {
		res.Values[i] /= r.scale
	}
	res.Info = r.info(res.Residuals)
	return res, nil
}

// info returns the description of the run, with the residuals of its results for scale*A.
func (r *run) info(residuals []float64) Info {
	info := Info{Residuals: residuals, Norm: r.norm / r.scale, Converged: true, Method: r.method, Iterations: r.iterations, Restarts: r.restarts}
	for i, residual := range residuals {
		info.Converged = info.Converged && residual <= max(r.opt.Tol, 1e-13)*r.norm
		residuals[i] /= r.scale
	}
	info.Timing.Products, info.Timing.Precond, info.Products = r.Timings()
	info.Timing = since(info.Timing, r.begin)
	return info
}

// worst returns the largest residual.
func (i *Info) worst() (most float64) {
	for _, v := range i.Residuals {
		most = max(most, v)
	}
	return most
}

// accurate returns gaveUp, or an error where residuals computed from the results are above the tolerance.
func (i *Info) accurate(gaveUp error) error {
	if gaveUp != nil || i.Converged {
		return gaveUp
	}
	return &solver.ConvergenceError{Method: i.Method, Iterations: i.Iterations, Residual: i.worst() / max(i.Norm, math.SmallestNonzeroFloat64),
		Detail: "residuals computed from the results are above the tolerance", Err: solver.ErrStagnation}
}
