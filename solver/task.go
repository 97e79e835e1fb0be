package solver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/msrep-go/msrep/internal/given"
	"github.com/msrep-go/msrep/solver/internal/space"
	"github.com/msrep-go/msrep/sparse"
)

// method describes an iterative method for solve.
type method struct {
	name           string
	iterate        func(*task) error
	vectors        int  // largest number of vectors that it stores
	precondVectors int  // more vectors with a preconditioner
	bases          int  // Options.Restart more vectors for each
	eigen          bool // solves A x = lambda x, without b
	hostOnly       bool // accesses the elements of its vectors
	transposed     bool // also multiplies by the transposed matrix, which may be rectangular
	rowVectors     int  // with transposed: vectors with an element for each row; vectors then counts those of columns
}

// task is the state of one solve.
type task struct {
	space.Space
	method string
	opt    Options
	b, x   space.Vector
	exp    int     // b and x are divided by 2^exp
	norm   float64 // |b|
	rows   int     // of this process
	tall   bool    // the matrix has more rows than columns
	res    *Result

	best       float64 // least residual of the recurrence so far
	bestAt     int     // its iteration
	window     int     // iterations without a smaller residual after which the solve stagnates
	last       float64 // true residual at the last start
	slowStarts int     // consecutive starts that did not reduce the residual enough
}

// maxSlowStarts is the number of consecutive slow starts at which a solve ends with ErrStagnation.
const maxSlowStarts = 3

// solve runs a method on vectors in host memory or, where the operator allows it, on copies in device memory.
//
// A panic in the caller's code, for example in Options.Progress, reaches the caller after the memory of the solve is
// freed.
func solve(ctx context.Context, m method, a Operator, b, x []float64, opt Options) (res *Result, err error) {
	if err := cmp.Or(given.Context(ctx), given.Check("matrix", a)); err != nil {
		return nil, err
	}
	begin := time.Now()
	all, err := space.NewProcesses(a)
	first, n := 0, len(x)
	if all != nil {
		first, n = all.Op.Piece()
	}
	if err == nil {
		err = m.check(a, b, x, &opt, first, n)
	}
	var device space.Resident
	if err == nil && !m.hostOnly {
		device = space.OnDevices(a, all, m.transposed)
	}
	if err == nil && device != nil && m.bases > 0 && opt.Basis == BasisInt32 {
		err = sparse.Inputf("basis", "%q takes vectors in host memory, and this plan keeps them on its devices: use CPU devices, or %q", opt.Basis, BasisFloat64)
	}
	if err == nil && device == nil { // device spaces report lack of memory themselves
		err = m.fit(opt, len(b), len(x))
	}
	scale := b // the vector that determines the scaling
	if m.eigen {
		scale = x
	}
	largest := 0.0
	if err == nil { // only after the checks: a vector from C may be shorter than its stated length
		largest = space.LargestOf(scale)
	}
	if all != nil {
		err = all.Begin(ctx, &largest, err, opt.Tol, float64(opt.MaxIter), float64(opt.Restart), opt.Damping, float64(n), boolToFloat(opt.Precond != nil), float64(slices.Index(Bases, string(opt.Basis))))
	}
	if err != nil {
		return nil, err
	}
	t := &task{method: m.name, opt: opt, window: n + 1000, rows: len(b), tall: len(b) > len(x), res: &Result{}}
	if m.eigen {
		firstVector(x, largest, first)
	} else {
		b, t.exp = space.Rescale(largest, b, x)
		defer func() { space.ScaleBy(x, t.exp) }()
	}
	if device != nil {
		t.Space = space.NewDevice(ctx, device, opt.Precond, all)
	} else {
		t.Space = space.NewHost(ctx, a, opt.Precond, all)
	}
	defer func() {
		if e := t.Free(); e != nil && res != nil {
			res, err = nil, e
		}
	}()
	t.b, t.x = t.Load(b, x)
	err = m.iterate(t)
	failed := t.Failed()
	var gaveUp *ConvergenceError
	if failed == nil && !errors.As(err, &gaveUp) {
		failed = err // an error of a context: the residual of x is unknown
	}
	if failed == nil {
		failed = t.Fetch()
	}
	if failed != nil {
		return nil, failed
	}
	t.res.Timing.Products, t.res.Timing.Precond, t.res.Products = t.Timings()
	t.res.Timing.Total = time.Since(begin)
	return t.res, err
}

// check checks the arguments of a solve and sets the defaults of opt. b and x are the pieces from element first on; the
// whole vectors have n elements.
func (m method) check(a Operator, b, x []float64, opt *Options, first, n int) error {
	if err := checkSystem(a, b, x, m, first); err != nil {
		return err
	}
	if err := opt.fill(n); err != nil {
		return err
	}
	if err := checkPrecond(opt.Precond, len(x)); err != nil {
		return err
	}
	if m.eigen && n == 0 {
		return sparse.Inputf("x", "has no elements: an empty matrix has no eigenvalue")
	}
	return nil
}

func boolToFloat(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// linear makes a method for A x = b of iterate: it handles b = 0 before and calls verify after.
func linear(iterate func(*task) error) func(*task) error {
	return func(t *task) error {
		t.norm = math.Sqrt(t.Dot(t.b, t.b))
		if err := t.Failed(); err != nil {
			return err
		}
		if t.norm == 0 { // x = 0 is the solution
			t.Set(0, t.x, t.x)
			t.res.Converged, t.res.History = true, []float64{0}
			return nil
		}
		return t.verify(iterate(t), t.Zero)
	}
}

// verify computes the true residual after a *ConvergenceError, because x may be within the tolerance nevertheless, and
// after a scaled solve, because x may overflow or underflow in the scale of b. spare returns a vector for the
// residual. Other errors are returned unchanged.
func (t *task) verify(err error, spare func() space.Vector) error {
	var c *ConvergenceError
	gaveUp := errors.As(err, &c)
	if !gaveUp && (err != nil || t.exp == 0) {
		return err
	}
	t.Round(t.x, t.exp)
	t.res.Residual = t.residual(spare())
	if failed := t.Failed(); failed != nil {
		return failed
	}
	within := t.res.Residual <= t.opt.Tol
	t.res.LeastSquares = t.res.LeastSquares && !within && t.res.Residual <= (1+t.opt.Tol)*t.last // as before x was rounded
	if t.res.Converged = within || t.res.LeastSquares && !gaveUp; t.res.Converged {
		return nil
	}
	if !gaveUp {
		return t.convergenceError(ErrBreakdown, "elements of the solution overflow or underflow: scale the matrix or b")
	}
	c.Residual = t.res.Residual
	return err
}

// residual computes r = b - A x and returns |r|/|b|.
func (t *task) residual(r space.Vector) float64 {
	t.Set(1, t.b, r)
	t.Product(-1, t.x, 1, r)
	return math.Sqrt(t.Dot(r, r)) / t.norm
}

// start computes r = b - A x. done reports that the solve ends: x is within the tolerance, or err says why not. At each
// start the residual should be at most factor times that of the previous start; the solve ends with ErrStagnation
// after maxSlowStarts consecutive starts where it is not.
func (t *task) start(r space.Vector, factor float64) (done bool, err error) {
	rel := t.residual(r)
	if err := t.Failed(); err != nil {
		return true, err
	}
	return t.startFrom(rel, factor)
}

// startFrom is start for a known relative residual rel.
func (t *task) startFrom(rel, factor float64) (done bool, err error) {
	if len(t.res.History) == t.res.Iterations { // at the first start, and in Refine at every start
		t.res.History = append(t.res.History, rel)
	}
	if t.last == 0 {
		t.best, t.last = rel, math.Inf(1)
	}
	t.res.Residual = rel
	switch {
	case rel <= t.opt.Tol:
		t.res.Converged = true
		return true, nil
	case !space.Finite(rel):
		return true, t.convergenceError(ErrBreakdown, "the residual is not finite")
	case t.res.Iterations >= t.opt.MaxIter: // restarts whose recurrence converges while the true residual does not
		return true, t.convergenceError(ErrNotConverged, "")
	case rel > factor*t.last:
		t.slowStarts++
	default:
		t.slowStarts = 0
	}
	t.last = rel
	if t.slowStarts == maxSlowStarts {
		return true, t.convergenceError(ErrStagnation, "the true residual no longer decreases")
	}
	return false, nil
}

// recordIteration ends an iteration; norm is the length of the residual from the recurrence. near reports that it is
// within the tolerance. An error ends the method.
func (t *task) recordIteration(norm float64) (near bool, err error) {
	if err := t.Failed(); err != nil {
		return false, err
	}
	if err := t.Ended(); err != nil {
		return false, err
	}
	rel := norm / t.norm
	t.res.Iterations++
	t.res.History = append(t.res.History, rel)
	if t.opt.Progress != nil {
		t.opt.Progress(t.res.Iterations, rel)
	}
	switch {
	case !space.Finite(rel):
		return false, t.convergenceError(ErrBreakdown, "the residual is not finite")
	case rel <= t.opt.Tol:
		return true, nil
	case rel < t.best:
		t.best, t.bestAt = rel, t.res.Iterations
	case t.res.Iterations-t.bestAt >= t.window:
		return false, t.convergenceError(ErrStagnation, "no smaller residual for %d iterations", t.window)
	}
	if t.res.Iterations >= t.opt.MaxIter {
		return false, t.convergenceError(ErrNotConverged, "")
	}
	return false, nil
}

// convergenceError returns the error of a method that did not converge.
func (t *task) convergenceError(reason error, format string, args ...any) error {
	return &ConvergenceError{
		Method: t.method, Iterations: t.res.Iterations, Residual: t.res.Residual,
		Detail: fmt.Sprintf(format, args...), Err: reason,
	}
}
