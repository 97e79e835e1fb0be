package solver

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
)

func TestBreakdownsAreTyped(t *testing.T) {
	skew := dense(t, []float64{0, 1}, []float64{-1, 0})
	singular := dense(t, []float64{1, 0}, []float64{0, 0})
	indefinite := dense(t, []float64{1, 0}, []float64{0, -2})
	huge := dense(t, []float64{1e300, 1e300}, []float64{1e300, -1e300})
	for _, c := range []struct {
		method string
		a      *sparse.CSR[float64]
		reason error
		says   string
	}{
		{"cg", skew, ErrBreakdown, "not positive definite"},
		{"cg", indefinite, ErrBreakdown, "not positive definite"},
		{"bicgstab", skew, ErrBreakdown, "orthogonal"},
		{"bicgstab", singular, ErrBreakdown, ""},
		{"gmres", singular, ErrBreakdown, "singular"},
		{"cg", huge, ErrBreakdown, ""},
		{"cg", dense(t, []float64{1e308, 1e308}, []float64{1e308, 1e308}), ErrBreakdown, "p'Ap = +Inf: the matrix is not finite, or too large"},
		{"bicgstab", dense(t, []float64{1e170, 0}, []float64{0, 1e168}), ErrBreakdown, "scale the matrix"},
		{"bicgstab", dense(t, []float64{1e160, -1e160}, []float64{2, 1}), ErrBreakdown, "too large to be squared"},
		{"bicgstab", dense(t, []float64{1e-170, 0}, []float64{0, 1e-168}), ErrBreakdown, "A r is zero, or too small"},
	} {
		b, x := []float64{1, 1}, []float64{0, 0}
		res, err := methods[c.method](t.Context(), planOn(t, "cpu:1", c.a), b, x, Options{})
		require.ErrorIs(t, err, c.reason, c.method)
		require.ErrorContains(t, err, c.says)
		var failed *ConvergenceError
		require.ErrorAs(t, err, &failed)
		require.Equal(t, c.method, failed.Method)
		require.False(t, res.Converged)
	}
}

func TestMaxIterEndsWithNotConverged(t *testing.T) {
	a := laplacian(t, "stencil:n=30,points=5")
	for name, method := range methods {
		x := make([]float64, a.Rows)
		calls := 0
		res, err := method(t.Context(), planOn(t, "cpu:1", a), sines(a.Rows), x,
			Options{MaxIter: 3, Progress: func(i int, r float64) { calls++ }})
		require.ErrorIs(t, err, ErrNotConverged, name)
		require.Equal(t, 3, res.Iterations, name)
		require.Equal(t, 3, calls)
		require.InEpsilon(t, trueResidual(t, a, sines(a.Rows), x), res.Residual, 1e-9, name)
	}
}

func TestBadSystemsAreRefused(t *testing.T) {
	a := dense(t, []float64{2, 1}, []float64{1, 2})
	plan := planOn(t, "cpu:1", a)
	wide, err := sparse.NewCSR(1, 2, []int64{0, 1}, []int32{1}, []float64{1})
	require.NoError(t, err)
	pre, err := Jacobi(dense(t, []float64{1}))
	require.NoError(t, err)
	two := func() []float64 { return []float64{1, 1} }
	same := two()
	for _, c := range []struct {
		a    Operator
		b, x []float64
		opt  Options
		says string
	}{
		{planOn(t, "cpu:1", wide), []float64{1}, two(), Options{}, "matrix: 1 x 2"},
		{plan, []float64{1}, two(), Options{}, "b: 1 elements: the matrix has 2 rows"},
		{plan, two(), []float64{1, 2, 3}, Options{}, "x: 3 elements"},
		{plan, same, same, Options{}, "x: shares memory with b"},
		{plan, []float64{1, math.NaN()}, two(), Options{}, "b: element 1 is NaN"},
		{plan, two(), []float64{math.Inf(1), 0}, Options{}, "x: element 0 is +Inf"},
		{plan, two(), []float64{0, 0}, Options{Tol: 2}, "tolerance: 2"},
		{plan, two(), []float64{0, 0}, Options{Tol: math.NaN()}, "tolerance: NaN"},
		{plan, two(), []float64{0, 0}, Options{MaxIter: -1}, "max iterations: -1"},
		{plan, two(), []float64{0, 0}, Options{Restart: -1}, "restart: -1"},
		{plan, two(), []float64{0, 0}, Options{Damping: -1}, "damping: -1"},
		{plan, two(), []float64{0, 0}, Options{Damping: math.Inf(1)}, "damping: +Inf"},
		{plan, two(), []float64{0, 0}, Options{Precond: pre}, "preconditioner: made for 1"},
		{nil, two(), []float64{0, 0}, Options{}, "matrix: is nil"},
	} {
		for name, method := range methods {
			if c.says == "matrix: 1 x 2" && name == "lsmr" {
				continue
			}
			res, err := method(t.Context(), c.a, c.b, c.x, c.opt)
			require.True(t, sparse.IsInput(err), "%s: %v", name, err)
			require.ErrorContains(t, err, c.says)
			require.Nil(t, res)
		}
	}
}

func TestErrorsOfProductsAndContextsAreReturned(t *testing.T) {
	a := laplacian(t, "stencil:n=20,points=5")
	plan := planOn(t, "cpu:1", a)
	for name, method := range methods {
		ctx, cancel := context.WithCancel(t.Context())
		opt := Options{Progress: func(i int, _ float64) {
			if i == 2 {
				cancel()
			}
		}}
		_, err := method(ctx, plan, sines(a.Rows), make([]float64, a.Rows), opt)
		require.ErrorIs(t, err, context.Canceled, name)
	}
	broken := errors.New("device lost")
	for name, method := range methods {
		for at := range 5 {
			op := &failing{Operator: plan, left: at, err: broken}
			res, err := method(t.Context(), op, sines(a.Rows), make([]float64, a.Rows), Options{})
			require.ErrorIs(t, err, broken, name)
			require.Nil(t, res)
		}
	}
}

func TestErrorsOfWorkersBetweenProductsAreReturned(t *testing.T) {
	a := laplacian(t, "stencil:n=20,points=5")
	jacobi, err := Jacobi(a)
	require.NoError(t, err)
	b := sines(a.Rows)
	broken := errors.New("device lost")
	solves := map[string]func(op *idle, opt Options) (gave bool, err error){
		"many": func(op *idle, opt Options) (bool, error) {
			res, err := CGMany(t.Context(), op, msrep.MultiVectorByRow(b, 1), msrep.MultiVectorByRow(make([]float64, a.Rows), 1), opt)
			return res != nil, err
		},
	}
	for name, method := range methods {
		solves[name] = func(op *idle, opt Options) (bool, error) {
			res, err := method(t.Context(), op, b, make([]float64, a.Rows), opt)
			return res != nil, err
		}
	}
	plan := planOn(t, "cpu:1", a)
	for name, solve := range solves {
		for _, precond := range []Preconditioner{nil, jacobi} {
			opt := Options{MaxIter: 4, Tol: 1e-14, Precond: precond}
			whole := &idle{Plan: plan, left: -1}
			_, _ = solve(whole, opt)
			require.Greater(t, whole.calls, 5, name)
			for at := range whole.calls {
				op := &idle{Plan: plan, left: at, err: broken}
				opt.Progress = func(int, float64) { require.LessOrEqual(t, op.calls, at, "%s hears of what failed", name) }
				gave, err := solve(op, opt)
				require.ErrorIs(t, err, broken, "%s, call %d of %d", name, at, whole.calls)
				require.False(t, gave, name)
			}
		}
	}
}

// idle is a plan whose Range fails after left calls, or never where left is negative.
type idle struct {
	*msrep.Plan[float64]
	left, calls int
	err         error
}

func (o *idle) Range(n, grain int, f func(lo, hi int)) error {
	if o.calls++; o.calls-1 == o.left {
		return o.err
	}
	return o.Plan.Range(n, grain, f)
}

// failing is an operator that fails after some products.
type failing struct {
	Operator
	left int
	err  error
}

func (f *failing) SpMV(ctx context.Context, op msrep.Transpose, alpha float64, x []float64, beta float64, y []float64) error {
	if f.left == 0 {
		return f.err
	}
	f.left--
	return f.Operator.SpMV(ctx, op, alpha, x, beta, y)
}

// overdue is a context whose deadline has passed but whose timer has not fired.
type overdue struct{ context.Context }

func (overdue) Deadline() (time.Time, bool) { return time.Now(), true }

func TestADeadlineEndsASolveEvenIfItsTimerIsLate(t *testing.T) {
	a := laplacian(t, "stencil:n=12,points=5")
	ctx := overdue{t.Context()}
	for name, method := range methods {
		res, err := method(ctx, planOn(t, "cpu:1", a), sines(a.Rows), make([]float64, a.Rows), Options{})
		require.ErrorIs(t, err, context.DeadlineExceeded, name)
		require.Nil(t, res, "%s: its residual is not that of x", name)
	}
}
