package solver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/msrep-go/msrep/internal/given"
	"github.com/msrep-go/msrep/sparse"
)

// method is a method as solve runs it.
type method struct {
	name    string
	iterate func(*task) error
	vectors int  // that it keeps, at most
	precondVectors    int  // further ones with a preconditioner
	keepsBasis   bool // and Options.Restart further ones
	eigen   bool // A x = lambda x: there is no b
	hostOnly  bool // it looks into its vectors
}

// task is one solve under way.
type task struct {
	space
	method string
	opt    Options
	b, x   vector
	exp    int     // b and x are divided by 2^exp
	norm   float64 // of b
	res    *Result

	best       float64 // least residual of the recurrence so far
	bestAt     int     // its iteration
	window     int     // iterations without a better one that are stagnation
	last       float64 // true residual at the last start
	slowStarts int     // starts in a row that brought too little
}

// maxSlowStarts is how many starts in a row may bring too little.
const maxSlowStarts = 3

// solve runs a method on vectors in host memory, or on copies where the devices are.
//
// A panic of the caller's code, such as Options.Progress, goes on to the caller; the memory of the
// solve is freed then, too.
func solve(ctx context.Context, m method, a Operator, b, x []float64, opt Options) (res *Result, err error) {
	if err := cmp.Or(given.Context(ctx), given.Check("matrix", a)); err != nil {
		return nil, err
	}
	begin := time.Now()
	all, err := newProcesses(a)
	first, n := 0, len(x)
	if all != nil {
		first, n = all.op.Piece()
	}
	if err == nil {
		err = m.check(a, b, x, &opt, first, n)
	}
	var device residentOperator
	if err == nil && !m.hostOnly {
		device = onDevices(a, all)
	}
	if err == nil && device == nil { // devices say themselves what they have no memory for
		err = m.fit(opt, len(x))
	}
	scale := b // whose size may be brought to that of 1
	if m.eigen {
		scale = x
	}
	largest := 0.0
	if err == nil { // else a length from C may be longer than its memory
		largest = largestOf(scale)
	}
	if all != nil {
		err = all.begin(ctx, &largest, err, opt.Tol, float64(opt.MaxIter), float64(opt.Restart), float64(n), boolToFloat(opt.Precond != nil))
	}
	if err != nil {
		return nil, err
	}
	t := &task{method: m.name, opt: opt, window: n + 1000, res: &Result{}}
	if m.eigen {
		firstVector(x, largest, first)
	} else {
		b, t.exp = rescale(largest, b, x)
		defer func() { scaleBy(x, t.exp) }()
	}
	if device != nil {
		t.space = newDeviceSpace(ctx, device, opt.Precond, all)
	} else {
		t.space = newHostSpace(ctx, a, opt.Precond, all, len(x))
	}
	defer func() {
		if e := t.free(); e != nil && res != nil {
			res, err = nil, e
		}
	}()
	t.b, t.x = t.load(b, x)
	err = m.iterate(t)
	failed := t.failed()
	var gaveUp *ConvergenceError
	if failed == nil && !errors.As(err, &gaveUp) {
		failed = err // of a context: the residual of x is not known
	}
	if failed == nil {
		failed = t.fetch()
	}
	if failed != nil {
		return nil, failed
	}
	t.res.Timing.Products, t.res.Timing.Precond, t.res.Products = t.timings()
	t.res.Timing.Total = time.Since(begin)
	return t.res, err
}

// check refuses what a solve can't begin with, and fills in the options. b and x have the
// elements from first on, of n in all processes.
func (m method) check(a Operator, b, x []float64, opt *Options, first, n int) error {
	if err := checkSystem(a, b, x, m.eigen, first); err != nil {
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

// linear is a method for A x = b, with the case of b = 0 at its start and judge at
// its end.
func linear(iterate func(*task) error) func(*task) error {
	return func(t *task) error {
		t.norm = math.Sqrt(t.dot(t.b, t.b))
		if err := t.failed(); err != nil {
			return err
		}
		if t.norm == 0 { // x = 0 is the solution
			t.set(0, t.b, t.x)
			t.res.Converged, t.res.History = true, []float64{0}
			return nil
		}
		return t.verify(iterate(t), t.zero)
	}
}

// verify finds the true residual of a solve that gave up, whose x may be good enough all
// the same, and of one whose x may over- or underflow in the units of b. spare gives a
// vector for it.
func (t *task) verify(err error, spare func() vector) error {
	var c *ConvergenceError
	gaveUp := errors.As(err, &c)
	if !gaveUp && (err != nil || t.exp == 0) {
		return err
	}
	t.round(t.x, t.exp)
	t.res.Residual = t.residual(spare())
	if failed := t.failed(); failed != nil {
		return failed
	}
	if t.res.Converged = t.res.Residual <= t.opt.Tol; t.res.Converged {
		return nil
	}
	if !gaveUp {
		return t.convergenceError(ErrBreakdown, "elements of the solution over- or underflow: scale the matrix or b")
	}
	c.Residual = t.res.Residual
	return err
}

// residual computes r = b - A x and gives |r|/|b|.
func (t *task) residual(r vector) float64 {
	t.set(1, t.b, r)
	t.product(-1, t.x, 1, r)
	return math.Sqrt(t.dot(r, r)) / t.norm
}

// start computes r = b - A x. done says that x is the solution, as the true
// residual tells. Each start must bring the residual below factor times that of the
// start before; it may miss that three times in a row.
func (t *task) start(r vector, factor float64) (done bool, err error) {
	rel := t.residual(r)
	if err := t.failed(); err != nil {
		return true, err
	}
	return t.startFrom(rel, factor)
}

// startFrom is start for a residual that is known.
func (t *task) startFrom(rel, factor float64) (done bool, err error) {
	if len(t.res.History) == t.res.Iterations { // the first start; in Refine every one
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
	case !finite(rel):
		return true, t.convergenceError(ErrBreakdown, "the residual is not finite")
	case t.res.Iterations >= t.opt.MaxIter: // where each restart promises more than it keeps
		return true, t.convergenceError(ErrNotConverged, "")
	case rel > factor*t.last:
		t.slowStarts++
	default:
		t.slowStarts = 0
	}
	t.last = rel
	if t.slowStarts == maxSlowStarts {
		return true, t.convergenceError(ErrStagnation, "the true residual stays at this")
	}
	return false, nil
}

// recordIteration ends an iteration with the residual that the recurrence gives. near says
// that it is within the tolerance. An error ends the method.
func (t *task) recordIteration(norm float64) (near bool, err error) {
	if err := t.failed(); err != nil {
		return false, err
	}
	if err := t.ended(); err != nil {
		return false, err
	}
	rel := norm / t.norm
	t.res.Iterations++
	t.res.History = append(t.res.History, rel)
	if t.opt.Progress != nil {
		t.opt.Progress(t.res.Iterations, rel)
	}
	switch {
	case !finite(rel):
		return false, t.convergenceError(ErrBreakdown, "the residual is not finite")
	case rel <= t.opt.Tol:
		return true, nil
	case rel < t.best:
		t.best, t.bestAt = rel, t.res.Iterations
	case t.res.Iterations-t.bestAt >= t.window:
		return false, t.convergenceError(ErrStagnation, "no better residual for %d iterations", t.window)
	}
	if t.res.Iterations >= t.opt.MaxIter {
		return false, t.convergenceError(ErrNotConverged, "")
	}
	return false, nil
}

// convergenceError makes the error of a method that gives up.
func (t *task) convergenceError(reason error, format string, args ...any) error {
	return &ConvergenceError{
		Method: t.method, Iterations: t.res.Iterations, Residual: t.res.Residual,
		Detail: fmt.Sprintf(format, args...), Err: reason,
	}
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
