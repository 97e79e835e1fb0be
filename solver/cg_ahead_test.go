package solver

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
)

// positive returns a random sparse symmetric matrix that is positive definite: its diagonal is larger than the sums of the
// other elements of a row.
func positive(t require.TestingT, r *rand.Rand, n int) *sparse.CSR[float64] {
	rows := make([][]float64, n)
	for i := range rows {
		rows[i] = make([]float64, n)
	}
	for i := range rows {
		for range 1 + r.IntN(3) {
			if j := r.IntN(n); j != i {
				v := r.NormFloat64()
				rows[i][j], rows[j][i] = v, v
			}
		}
	}
	for i := range rows {
		d := 0.1
		for j, v := range rows[i] {
			if j != i {
				d += math.Abs(v)
			}
		}
		rows[i][i] = d * (1 + r.Float64())
	}
	return dense(t, rows...)
}

// onSim is a plan on simulated GPUs of a System that the caller closes.
func onSim(t require.TestingT, devices int, a *sparse.CSR[float64], o msrep.PlanOptions) (*msrep.System, *msrep.Plan[float64]) {
	sys, err := msrep.Open(msrep.Config{Devices: fmt.Sprintf("sim:%d", devices)})
	require.NoError(t, err)
	plan, err := msrep.NewPlan(context.Background(), sys, a, o)
	require.NoError(t, err)
	return sys, plan
}

func TestCGWaitsForItsDevicesOnceInEightIterations(t *testing.T) {
	a := laplacian(t, "stencil:n=30,points=5")
	jacobi, err := Jacobi(a)
	require.NoError(t, err)
	for name, m := range map[string]Preconditioner{"none": nil, "jacobi": jacobi} {
		for _, devices := range []int{1, 4} {
			var mu sync.Mutex
			counts := map[string]int{}
			sys := openAs(t, msrep.Config{Devices: fmt.Sprintf("sim:%d", devices), Trace: func(e msrep.Event) {
				mu.Lock()
				defer mu.Unlock()
				counts[e.Name]++
			}})
			plan := planOf(t, sys, sparse.Matrix[float64](a), msrep.PlanOptions{})
			const from, to = 7, 31 // the looks are after iterations 1, 3, 7, 15, 23 and 31
			var before, after map[string]int
			opt := Options{Tol: 1e-14, MaxIter: 40, Precond: m, Progress: func(i int, _ float64) {
				mu.Lock()
				defer mu.Unlock()
				switch i {
				case from:
					before = maps.Clone(counts)
				case to:
					after = maps.Clone(counts)
				}
			}}
			_, err := CG(t.Context(), plan, sines(a.Rows), make([]float64, a.Rows), opt)
			require.ErrorIs(t, err, ErrNotConverged)
			const looks = (to - from) / maxAhead
			require.Equal(t, to-from, after["apply"]-before["apply"])
			require.Equal(t, looks, after["sync"]-before["sync"], "%s, %d devices: waits", name, devices)
			require.Equal(t, looks, after["read"]-before["read"], "%s, %d devices: copies to the host", name, devices)
			require.Zero(t, after["write"]-before["write"], "%s, %d devices: copies from the host", name, devices)
			t.Logf("%s, sim:%d: %d waits in %d iterations", name, devices, after["sync"]-before["sync"], to-from)
			require.NoError(t, sys.Close())
		}
	}
}

// The preconditioners identity and onlyApply make CG read every scalar on the host.
func TestCGAheadHasTheIteratesOfTheLoopOfTheHost(t *testing.T) {
	left := 40 // a case takes as long as dozens on CPU devices
	rapid.Check(t, func(t *rapid.T) {
		if left--; left < 0 {
			return
		}
		n, devices := rapid.IntRange(1, 25).Draw(t, "n"), rapid.IntRange(1, 6).Draw(t, "devices")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		a := positive(t, r, n)
		b, guess := make([]float64, n), make([]float64, n)
		for i := range b {
			b[i] = r.NormFloat64()
			if rapid.Bool().Draw(t, "guess") {
				guess[i] = r.NormFloat64()
			}
		}
		var ahead, host Preconditioner = nil, identity{n}
		if rapid.Bool().Draw(t, "jacobi") {
			m, err := Jacobi(a)
			require.NoError(t, err)
			ahead, host = m, onlyApply{m}
		}
		sys, plan := onSim(t, devices, a, msrep.PlanOptions{})
		defer func() { require.NoError(t, sys.Close()) }()
		opt := Options{Tol: 1e-6, MaxIter: rapid.SampledFrom([]int{0, 1, 2, 3, 7, 8}).Draw(t, "max iterations")}

		solve := func(m Preconditioner) ([]float64, *Result, error) {
			x, opt := append([]float64(nil), guess...), opt
			opt.Precond = m
			var heard []float64
			opt.Progress = func(i int, residual float64) {
				heard = append(heard, residual)
				require.Len(t, heard, i)
			}
			res, err := CG(context.Background(), plan, b, x, opt)
			require.NotNil(t, res, "%v", err)
			require.Equal(t, res.History[1:], heard)
			require.Len(t, heard, res.Iterations)
			return x, res, err
		}
		x, res, err := solve(ahead)
		again, _, _ := solve(ahead)
		require.Equal(t, x, again, "the same bits")
		want, expected, hostErr := solve(host)
		require.Equal(t, expected.Converged, res.Converged)
		require.Equal(t, hostErr == nil, err == nil)
		if err != nil {
			require.ErrorIs(t, err, ErrNotConverged)
			require.Equal(t, opt.MaxIter, res.Iterations)
			require.Equal(t, res.Iterations+2, res.Products, "none after the last iteration")
		} else {
			require.LessOrEqual(t, res.Residual, opt.Tol)
			require.LessOrEqual(t, res.Products, res.Iterations+2*(1+maxAhead))
		}
		for k := range min(len(res.History), len(expected.History), 12) { // later, rounding may decide, as in residual n
			require.InDelta(t, expected.History[k], res.History[k], 1e-5*expected.History[k]+1e-9*expected.History[0], "residual %d", k)
		}
		require.InDelta(t, expected.Iterations, res.Iterations, 2)
		for i := range want {
			require.InDelta(t, want[i], x[i], 1e-3*(1+math.Abs(want[i])), "x[%d]", i)
		}
	})
}

// onlyApply hides that a preconditioner is diagonal.
type onlyApply struct{ Preconditioner }

func TestCGAheadEndsAsTheLoopOfTheHostDoes(t *testing.T) {
	chain := dense(t, []float64{1, -1, 0}, []float64{-1, 2, -1}, []float64{0, -1, 1}) // singular
	negative, err := Jacobi(dense(t, []float64{-1, 0}, []float64{0, 1}))
	require.NoError(t, err)
	for name, c := range map[string]struct {
		a    *sparse.CSR[float64]
		b, x []float64
		opt  Options
		err  error
	}{
		"zero right-hand side":       {chain, []float64{0, 0, 0}, []float64{1, 2, 3}, Options{}, nil},
		"within the tolerance":       {dense(t, []float64{2, 0}, []float64{0, 4}), []float64{2, 4}, []float64{1, 1}, Options{}, nil},
		"one iteration":              {dense(t, []float64{2, 0}, []float64{0, 2}), []float64{2, 4}, []float64{0, 0}, Options{}, nil},
		"singular, with a solution":  {chain, []float64{1, 0, -1}, []float64{0, 0, 0}, Options{}, nil},
		"singular, without":          {chain, []float64{1, 1, 1}, []float64{0, 0, 0}, Options{}, ErrBreakdown},
		"indefinite":                 {dense(t, []float64{1, 0}, []float64{0, -2}), []float64{1, 1}, []float64{0, 0}, Options{}, ErrBreakdown},
		"indefinite, after a step":   {dense(t, []float64{4, 0, 0}, []float64{0, 1, 0}, []float64{0, 0, -0.5}), []float64{2, 1, 0.5}, []float64{0, 0, 0}, Options{}, ErrBreakdown},
		"negative":                   {dense(t, []float64{-1, 0}, []float64{0, -2}), []float64{1, 1}, []float64{0, 0}, Options{}, ErrBreakdown},
		"too large":                  {dense(t, []float64{1e308, 1e308}, []float64{1e308, 1e308}), []float64{1, 1}, []float64{0, 0}, Options{}, ErrBreakdown},
		"negative preconditioner":    {dense(t, []float64{1, 0}, []float64{0, 1}), []float64{2, 1}, []float64{0, 0}, Options{Precond: negative}, ErrBreakdown},
		"at most one iteration":      {dense(t, []float64{2, 1}, []float64{1, 3}), []float64{1, 5}, []float64{0, 0}, Options{MaxIter: 1}, ErrNotConverged},
		"a tolerance without effect": {dense(t, []float64{2, 1}, []float64{1, 3}), []float64{1, 5}, []float64{0, 0}, Options{Tol: 1e-300, MaxIter: 60}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			want := append([]float64(nil), c.x...)
			expected, expectedErr := CG(t.Context(), planOn(t, "cpu:1", c.a), c.b, want, c.opt)
			for devices := 1; devices <= 4; devices++ {
				sys, plan := onSim(t, devices, c.a, msrep.PlanOptions{})
				x := append([]float64(nil), c.x...)
				res, err := CG(t.Context(), plan, c.b, x, c.opt)
				require.NoError(t, sys.Close())
				if name == "a tolerance without effect" { // the last bits decide how it ends
					require.LessOrEqual(t, trueResidual(t, c.a, c.b, x), 1e-14)
					continue
				}
				require.ErrorIs(t, err, c.err)
				require.ErrorIs(t, expectedErr, c.err)
				require.Equal(t, fmt.Sprint(expectedErr), fmt.Sprint(err))
				require.Equal(t, expected.Iterations, res.Iterations)
				require.Len(t, res.History, len(expected.History))
				require.InDeltaSlice(t, want, x, 1e-12)
				require.InDelta(t, expected.Residual, res.Residual, 1e-12)
			}
		})
	}
}

func TestCGAheadStopsWithItsContextAndItsCaller(t *testing.T) {
	a := laplacian(t, "stencil:n=20,points=5")
	for _, devices := range []int{1, 3} {
		sys, plan := onSim(t, devices, a, msrep.PlanOptions{})
		ctx, cancel := context.WithCancel(t.Context())
		last := 0
		opt := Options{Tol: 1e-14, Progress: func(i int, _ float64) {
			if last = i; i == 5 {
				cancel()
			}
		}}
		_, err := CG(ctx, plan, sines(a.Rows), make([]float64, a.Rows), opt)
		require.ErrorIs(t, err, context.Canceled)
		require.Equal(t, 5, last)

		ctx, cancel = context.WithTimeout(t.Context(), 5*time.Millisecond)
		_, err = CG(ctx, plan, sines(a.Rows), make([]float64, a.Rows), Options{Tol: 1e-14})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		cancel()

		opt.Progress = func(i int, _ float64) { panic("enough") }
		require.PanicsWithValue(t, "enough", func() { _, _ = CG(t.Context(), plan, sines(a.Rows), make([]float64, a.Rows), opt) })

		x := make([]float64, a.Rows) // the plan is usable after all that, and all memory is free
		_, err = CG(t.Context(), plan, sines(a.Rows), x, Options{})
		require.NoError(t, err)
		require.LessOrEqual(t, trueResidual(t, a, sines(a.Rows), x), 1.01e-8)
		require.NoError(t, sys.Close())
	}
}

// brittle is a plan whose products fail after some.
type brittle struct {
	*msrep.Plan[float64]
	left int
}

func (f *brittle) Apply(ctx context.Context, op msrep.Transpose, alpha float64, x *msrep.Vector[float64], beta float64, y *msrep.Vector[float64]) error {
	if f.left--; f.left < 0 {
		return errors.New("device lost")
	}
	return f.Plan.Apply(ctx, op, alpha, x, beta, y)
}

func TestCGAheadReturnsTheErrorOfAProduct(t *testing.T) {
	a := laplacian(t, "stencil:n=20,points=5")
	sys, plan := onSim(t, 2, a, msrep.PlanOptions{})
	for left := range 12 {
		res, err := CG(t.Context(), &brittle{plan, left}, sines(a.Rows), make([]float64, a.Rows), Options{Tol: 1e-14})
		require.EqualError(t, err, "device lost", "after %d products", left)
		require.Nil(t, res)
	}
	require.NoError(t, sys.Close())
}

func TestCGAheadSeesStagnationAtItsIteration(t *testing.T) {
	rows := make([][]float64, 24)
	b := make([]float64, len(rows))
	for i := range rows {
		rows[i] = make([]float64, len(rows))
		rows[i][i] = math.Exp2(float64(i)) // the residual grows before it falls
		b[i] = 1
	}
	a := dense(t, rows...)
	for _, window := range []int{1, 2, 3, 5, 6} {
		m := method{name: "cg", iterate: linear(func(t *task) error {
			t.window = window
			return cg(t)
		}), vectors: 4, precondVectors: 1}
		sys, plan := onSim(t, 2, a, msrep.PlanOptions{})
		x, want := make([]float64, a.Rows), make([]float64, a.Rows)
		res, err := solve(t.Context(), m, plan, b, x, Options{})
		expected, expectedErr := solve(t.Context(), m, plan, b, want, Options{Precond: identity{a.Rows}})
		require.NoError(t, sys.Close())
		require.ErrorIs(t, expectedErr, ErrStagnation)
		require.Equal(t, expected.Iterations, res.Iterations, "%v", err)
		require.Equal(t, expectedErr.Error(), err.Error())
		require.InDeltaSlice(t, want, x, 1e-9)
	}
}

func TestTheTrueResidualDecidesAfterCGAhead(t *testing.T) {
	a := laplacian(t, "stencil:n=12,points=5")
	jacobi, err := Jacobi(a)
	require.NoError(t, err)
	b, x := sines(a.Rows), make([]float64, a.Rows)
	sys, plan := onSim(t, 3, a, msrep.PlanOptions{})
	res, err := CG(t.Context(), plan, b, x, Options{Tol: 1e-17, Precond: jacobi}) // below what float64 can reach
	require.NoError(t, sys.Close())
	require.ErrorIs(t, err, ErrStagnation)
	require.Greater(t, res.Iterations, 60, "the recurrence was started again")
	require.InEpsilon(t, trueResidual(t, a, b, x), res.Residual, 0.1)
	require.Less(t, res.Residual, 1e-14)
}

func TestCGAheadQueuesFewIterationsNearItsEnd(t *testing.T) {
	k := &task{opt: Options{Tol: 1e-8}, res: &Result{}}
	falls := func(by float64, iterations int) {
		k.res.History = []float64{1}
		for i := range iterations {
			k.res.History = append(k.res.History, math.Pow(by, float64(i+1)))
		}
	}
	for _, c := range []struct {
		by                     float64
		iterations, last, next int
	}{{0.5, 1, 1, 2}, {0.5, 3, 2, 4}, {0.5, 7, 8, 8}, {0.5, 15, 8, 5}, {0.5, 20, 8, 3}, {0.5, 26, 4, 1}, {1e-7, 1, 1, 1}, {1, 3, 4, 8}, {2, 3, 4, 8}, {1e-3, 2, 8, 1}} {
		falls(c.by, c.iterations)
		require.Equal(t, c.next, k.nextAhead(0, c.last), "%+v", c)
	}
}

func TestCGOfADeterministicPlanHasTheSameBitsOnAnyDevices(t *testing.T) {
	a := laplacian(t, "stencil:n=12,points=5")
	var want []float64
	for devices := 1; devices <= 6; devices++ {
		sys, plan := onSim(t, devices, a, msrep.PlanOptions{Deterministic: true})
		x := make([]float64, a.Rows)
		_, err := CG(t.Context(), plan, sines(a.Rows), x, Options{})
		require.NoError(t, err)
		require.NoError(t, sys.Close())
		if want == nil {
			want = x
		}
		require.Equal(t, want, x, "%d devices", devices)
	}
}
