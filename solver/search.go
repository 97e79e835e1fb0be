package solver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/msrep-go/msrep/internal/given"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/solver/amg"
	"github.com/msrep-go/msrep/solver/factor"
	"github.com/msrep-go/msrep/solver/internal/probe"
	"github.com/msrep-go/msrep/solver/internal/refine"
	"github.com/msrep-go/msrep/solver/internal/space"
	"github.com/msrep-go/msrep/sparse"
)

// search is one call of Solve.
type search struct {
	ctx      context.Context // ends with caller, and at the time limit
	release  context.CancelFunc
	caller   context.Context // the ctx of Solve
	sys      *msrep.System
	a        *sparse.CSR[float64] // scaled, see scale
	b        []float64            // scaled
	x        []float64            // of the caller
	first    []float64            // the first guess, scaled
	exp      int                  // x is 2^exp times the solution of the scaled system
	opt      SolveOptions
	traits   probe.Traits         // of a square matrix
	norm     float64              // |b|
	floor    float64              // see floorOf; 0 before it is known
	plan     *msrep.Plan[float64] // of the last attempt that needed products; nil before the first such attempt
	expected msrep.Expected       // the products for which plan was made
	sol      *Solution            // that of the least residual so far
	asked    bool                 // the options name the one attempt
}

// newSearch checks the arguments of Solve.
func newSearch(ctx context.Context, sys *msrep.System, a sparse.Matrix[float64], b, x []float64, opt SolveOptions) (*search, error) {
	if err := given.Check("matrix", a); err != nil {
		return nil, err
	}
	if sys == nil {
		return nil, sparse.Inputf("system", "is nil")
	}
	m, err := probe.Tidy(a)
	if err != nil {
		return nil, err
	}
	for _, v := range []struct {
		name, of string
		data     []float64
		n        int
	}{{"b", "rows", b, m.Rows}, {"x", "columns", x, m.Cols}} {
		if len(v.data) != v.n {
			return nil, sparse.Inputf(v.name, "%d elements: the matrix has %d %s", len(v.data), v.n, v.of)
		}
	}
	if err := checkVectors(b, x, 0); err != nil {
		return nil, err
	}
	o := Options{Tol: opt.Tol, MaxIter: opt.MaxIter, Restart: opt.Restart, Basis: opt.Basis}
	if err := o.fill(m.Rows); err != nil {
		return nil, err
	}
	opt.Tol = o.Tol
	if err := opt.Check(); err != nil {
		return nil, err
	}
	switch {
	case opt.Time < 0:
		return nil, sparse.Inputf("time", "%v: use a positive time, or 0 for no limit", opt.Time)
	case opt.MaxBytes < 0:
		return nil, sparse.Inputf("max bytes", "%d: use a positive number, or 0 for the memory that is available", opt.MaxBytes)
	}
	s := &search{caller: ctx, sys: sys, a: m, b: b, x: x, first: slices.Clone(x), opt: opt, sol: &Solution{}}
	s.scale()
	s.norm = norm(s.b)
	if m.Rows == m.Cols {
		s.traits = probe.Look(m)
	}
	if opt.Time > 0 {
		s.ctx, s.release = context.WithTimeout(ctx, opt.Time)
	} else {
		s.ctx, s.release = context.WithCancel(ctx)
	}
	return s, nil
}

// scale divides the matrix and b by powers of two where squares of their elements might overflow or underflow.
func (s *search) scale() {
	b, exp := space.Rescale(space.LargestOf(s.b), s.b, s.first)
	s.b, s.exp = b, exp
	largest, least := 0.0, math.Inf(1)
	for _, v := range s.a.Val {
		if v = math.Abs(v); v != 0 {
			largest, least = max(largest, v), min(least, v)
		}
	}
	if space.Exponent(largest) == 0 {
		return
	}
	_, high := math.Frexp(largest)
	_, low := math.Frexp(least)
	middle := (high + low) / 2 // so that small elements remain
	m := *s.a
	m.Val = slices.Clone(m.Val)
	space.ScaleBy(m.Val, -middle)
	space.ScaleBy(s.first, middle)
	s.a, s.exp = &m, s.exp-middle
}

// start makes the first guess the solution so far, or 0 where that has a smaller residual.
func (s *search) start() {
	s.sol.Residual = 1
	if space.LargestOf(s.first) == 0 {
		return
	}
	if rel := s.residual(s.first); rel < 1 {
		s.sol.Residual = rel
		return
	}
	clear(s.first)
	clear(s.x)
}

// residual returns |b - A x|/|b| of an x in the scaled system, computed with twice the digits; infinity where x has elements
// that are not finite.
func (s *search) residual(x []float64) float64 { return refine.Residual(s.a, s.b, x, s.norm) }

func (s *search) close() {
	s.release()
	if s.plan != nil {
		s.plan.Close()
	}
}

// products returns a plan of the matrix for the expected products.
func (s *search) products(expected msrep.Expected) (*msrep.Plan[float64], error) {
	if s.plan != nil && s.expected == expected {
		return s.plan, nil
	}
	if s.plan != nil {
		if err := s.plan.Close(); err != nil {
			return nil, err
		}
		s.plan = nil
	}
	begin := time.Now()
	plan, err := msrep.NewPlan(s.ctx, s.sys, s.a, msrep.PlanOptions{SkipValidation: true, Deterministic: s.opt.Deterministic, Expected: expected})
	s.plan, s.expected = plan, expected
	s.sol.Timing.Plan += time.Since(begin)
	return plan, err
}

// attempt is a way to solve the system.
type attempt struct {
	Choice
	why string
	// most is the number of iterations that cost as much as the next attempt; 0 means no bound. See probe.Pace.
	most int
	// cost bounds the cost of complete factors (strategy.go); 0 means no bound.
	cost float64
	// cholesky chooses Cholesky factors instead of LU factors.
	cholesky bool
}

// trial is an attempt that is being made.
type trial struct {
	*search
	attempt
	ctx    context.Context // also ends when pace ends the attempt
	x      []float64
	pace   probe.Pace
	report Attempt
}

// try makes an attempt. done reports that the search ends: the residual is within the tolerance, or err is an error after which
// no other attempt can succeed.
func (s *search) try(p attempt) (done bool, err error) {
	begin := time.Now()
	ctx, cancel := context.WithCancelCause(s.ctx)
	defer cancel(nil)
	t := &trial{
		search: s, attempt: p, ctx: ctx, x: slices.Clone(s.first), pace: probe.Pace{Most: p.most, Tol: s.opt.Tol, Stop: cancel},
		report: Attempt{Choice: p.Choice, Why: p.why, Residual: math.NaN()},
	}
	t.progress(0, 1)
	res, err := t.solve()
	if cause := context.Cause(ctx); err != nil && cause != nil && s.ctx.Err() == nil {
		err = cause // of the pace
	}
	t.report.Iterations = len(t.report.History)
	if res == nil && s.ctx.Err() != nil && s.caller.Err() == nil { // out of time: x may be better than before
		res = &Result{Iterations: t.report.Iterations, History: t.report.History, Residual: s.residual(t.x)}
	}
	if res != nil {
		err = cmp.Or(err, t.confirm(res))
	}
	t.report.Time, t.report.Err = time.Since(begin), err
	if res != nil {
		t.report.Iterations, t.report.Products, t.report.Residual, t.report.History = res.Iterations, res.Products, res.Residual, res.History
		s.keep(p.Choice, res, t.x)
	}
	s.sol.Attempts = append(s.sol.Attempts, t.report)
	switch {
	case err == nil:
		return true, nil
	case s.caller.Err() != nil:
		if n := len(t.report.History); res == nil && n > 0 && t.report.History[n-1] < s.sol.Residual {
			copy(s.x, t.x)
			space.ScaleBy(s.x, s.exp)
		}
		return true, s.caller.Err()
	case s.opt.Time > 0 && (s.ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded)): // see space.ContextError
		return true, s.fail(Limit, context.DeadlineExceeded, "the time limit of %v ended %s; the least residual is %.3g", s.opt.Time, p.Choice, s.sol.Residual)
	}
	return !recoverable(err), err
}

// slack is how much larger the residual with twice the digits may be than the one that a method found.
const slack = 1.1

// confirm checks with twice the digits that x is within the tolerance, after it is rounded to what the caller gets.
func (t *trial) confirm(res *Result) error {
	if t.exp != 0 {
		space.ScaleBy(t.x, t.exp)
		space.ScaleBy(t.x, -t.exp)
	}
	within := res.Residual <= t.opt.Tol
	if !within && t.exp == 0 {
		return nil
	}
	exact := t.residual(t.x)
	if within && exact <= slack*t.opt.Tol {
		return nil
	}
	res.Converged, res.Residual = false, exact
	if !within {
		return nil
	}
	e := &ConvergenceError{Method: t.Method, Iterations: res.Iterations, Residual: exact, Err: ErrStagnation, Detail: "rounding errors are larger than b"}
	if t.exp != 0 {
		e.Err, e.Detail = ErrBreakdown, "elements of the solution overflow or underflow: scale the matrix or b"
	}
	return e
}

// keep makes x the solution if its residual is the least so far, or the method is the one that the caller asked for.
func (s *search) keep(c Choice, res *Result, x []float64) {
	timing := s.sol.Timing
	timing.Products += res.Timing.Products
	timing.Precond += res.Timing.Precond
	if last := s.sol.Residual; res.Residual <= last || s.asked {
		s.sol.Result, s.sol.Choice = *res, c
		if space.Finite(res.Residual) {
			copy(s.x, x)
			space.ScaleBy(s.x, s.exp)
		} else {
			s.sol.Residual = last // x remains
		}
	}
	s.sol.Timing = timing
}

// recoverable reports whether another method or preconditioner may succeed after err.
func recoverable(err error) bool {
	var converge *ConvergenceError
	var slow *probe.SlowError
	return errors.As(err, &converge) || errors.As(err, &slow) || factorsFailed(err) || sparse.IsInput(err)
}

// progress reports iteration k of the attempt.
func (t *trial) progress(k int, residual float64) {
	if k > 0 {
		t.report.History = append(t.report.History, residual)
		t.pace.Record(t.report.History)
	}
	if t.opt.Progress != nil {
		t.opt.Progress(Step{Attempt: len(t.sol.Attempts) + 1, Choice: t.report.Choice, Iteration: k, Residual: residual})
	}
}

// solve runs the method of the attempt on t.x, as a Method does.
func (t *trial) solve() (res *Result, err error) {
	if t.Method == "direct" {
		return t.direct()
	}
	begin := time.Now()
	opt := Options{Tol: t.opt.Tol, MaxIter: t.opt.MaxIter, Restart: t.opt.Restart, Progress: t.progress}
	opt.Precond, err = t.preconditioner()
	t.sol.Timing.Precond += time.Since(begin)
	if err != nil {
		return nil, err
	}
	if c, ok := opt.Precond.(io.Closer); ok {
		defer func() { err = cmp.Or(err, c.Close()) }()
	}
	m := iterations[t.Method]
	expected := msrep.Expected{Products: m.products * t.most / 2} // attempts with a bound often end early
	if m.transposed {
		expected.Transposed = manyProducts
	}
	plan, err := t.products(expected)
	if err != nil {
		return nil, err
	}
	t.report.Setup = time.Since(begin)
	opt.Basis = t.basis(plan)
	return m.method(t.ctx, plan, t.b, t.x, opt)
}

// basis returns the basis of GMRES for a plan of the matrix.
func (t *trial) basis(plan *msrep.Plan[float64]) Basis {
	size := 8 * int64(t.a.Rows) * int64(cmp.Or(t.opt.Restart, DefaultRestart))
	if t.opt.Basis == "" && size >= largeBasis && space.OnDevices(plan, nil, false) == nil {
		return BasisInt32
	}
	return t.opt.Basis
}

// largeBasis is the size of a basis in bytes that is beyond the caches of most processors.
const largeBasis = 64 << 20

// iterations has the iterative methods by name, the products with A in an iteration, and whether each also multiplies by A'.
var iterations = map[string]struct {
	method     Method
	products   int
	transposed bool
}{
	"cg": {CG, 1, false}, "minres": {MINRES, 1, false}, "bicgstab": {BiCGSTAB, 2, false}, "gmres": {GMRES, 1, false},
	"fgmres": {FGMRES, 1, false}, "idr": {IDR, 1, false}, "lsmr": {LSMR, 1, true},
}

// manyProducts is a number of products with the transposed matrix for which a plan stores it.
const manyProducts = 100

// ByName returns the iterative method of Methods with this name, or nil.
func ByName(name string) Method { return iterations[name].method }

// preconditioner returns the preconditioner of the attempt, or nil.
func (t *trial) preconditioner() (Preconditioner, error) {
	switch t.Precond {
	case "", "none":
		return nil, nil
	case "jacobi":
		return Jacobi(t.a)
	case "ic", "ilu", "ilut":
		return t.Incomplete(t.ctx, t.a)
	case "amg":
		return amg.New(t.ctx, t.sys, t.a, amg.Options{Deterministic: t.opt.Deterministic})
	case "chebyshev":
		return amg.NewChebyshev(t.ctx, t.sys, t.a, amg.Options{Deterministic: t.opt.Deterministic})
	}
	size, err := t.BlockSize()
	if err != nil {
		return nil, err
	}
	return BlockJacobi(t.a, size)
}

// Incomplete returns the incomplete factors that c names.
func (c Choice) Incomplete(ctx context.Context, a *sparse.CSR[float64]) (Preconditioner, error) {
	by := orders[c.Order]
	switch c.Precond {
	case "ic":
		return factor.NewIC0(ctx, a, factor.IC0Options{Order: by})
	case "ilu":
		return factor.NewILU0(ctx, a, factor.ILU0Options{Order: by})
	case "ilut":
		return factor.NewILUT(ctx, a, factor.ILUTOptions{Order: by})
	}
	return nil, sparse.Inputf("precond", "%q names no incomplete factors: use ilu, ic or ilut", c.Precond)
}

// fail records the diagnosis of a search without a solution, and returns its error.
func (s *search) fail(kind DiagnosisKind, cause error, format string, args ...any) error {
	d := Diagnosis{Kind: kind, Text: fmt.Sprintf(format, args...)}
	s.sol.Diagnosis = &d
	return &SystemError{Diagnosis: d, Residual: s.sol.Residual, Err: cause}
}

func (c Choice) String() string {
	switch {
	case c.Precond == "" || c.Precond == "none":
		return c.Method
	case c.Method == "":
		return c.Precond
	}
	return c.Method + " with " + c.Precond
}

// norm returns the 2-norm of v without overflow.
func norm(v []float64) float64 {
	largest := space.LargestOf(v)
	if largest == 0 || math.IsInf(largest, 0) {
		return largest
	}
	sum := 0.0
	for _, e := range v {
		e /= largest
		sum += e * e
	}
	return largest * math.Sqrt(sum)
}
