package solver

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/vec"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/gen"
)

// dense returns a CSR matrix with the nonzero elements of rows.
func dense(t require.TestingT, rows ...[]float64) *sparse.CSR[float64] {
	ptr, idx, val := []int64{0}, []int32{}, []float64{}
	for _, r := range rows {
		for j, v := range r {
			if v != 0 {
				idx, val = append(idx, int32(j)), append(val, v)
			}
		}
		ptr = append(ptr, int64(len(idx)))
	}
	m, err := sparse.NewCSR(len(rows), len(rows), ptr, idx, val)
	require.NoError(t, err)
	return m
}

// laplacian is the 5-point stencil with 4.1 on the diagonal: symmetric and positive
// definite.
func laplacian(t require.TestingT, spec string) *sparse.CSR[float64] {
	m, _, err := gen.Generate(spec)
	require.NoError(t, err)
	for i := range m.Rows {
		for k := m.RowPtr[i]; k < m.RowPtr[i+1]; k++ {
			m.Val[k] = -1
			if int(m.ColIdx[k]) == i {
				m.Val[k] = 4.1
			}
		}
	}
	return m
}

func TestGMRESSolvesSystemsInItsKrylovSpace(t *testing.T) {
	// A cyclic shift: no progress before the last step of a full cycle.
	const n = 40
	rows := make([][]float64, n)
	for i := range rows {
		rows[i] = make([]float64, n)
		rows[i][(i+1)%n] = 1
	}
	plan := planOn(t, "cpu:1", dense(t, rows...))
	b := make([]float64, n)
	b[0] = 1
	x := make([]float64, n)
	res, err := GMRES(t.Context(), plan, b, x, Options{Restart: n})
	require.NoError(t, err)
	require.Equal(t, n, res.Iterations)

	res, err = GMRES(t.Context(), plan, b, make([]float64, n), Options{Restart: n - 1})
	require.ErrorIs(t, err, ErrStagnation)
	require.InDelta(t, 1, res.Residual, 1e-12)
}

func TestSolvesStartFromTheFirstGuess(t *testing.T) {
	a := laplacian(t, "stencil:n=30,points=5")
	plan := planOn(t, "cpu:2", a)
	want, b := sines(a.Rows), make([]float64, a.Rows)
	err := plan.SpMV(t.Context(), msrep.NoTrans, 1, want, 0, b)
	require.NoError(t, err)
	for name, method := range methods {
		x := sines(a.Rows)
		res, err := method(t.Context(), plan, b, x, Options{})
		require.NoError(t, err, name)
		require.Zero(t, res.Iterations, "the guess is the solution")
		require.Equal(t, want, x)
		for _, exp := range []int{-900, 900} { // also in the units of b
			x = scaledBy(want, exp)
			res, err = method(t.Context(), plan, scaledBy(b, exp), x, Options{})
			require.NoError(t, err, name)
			require.Zero(t, res.Iterations, "%s: 2^%d", name, exp)
		}
	}
}

func TestZeroRightHandSidesHaveTheSolutionZero(t *testing.T) {
	a := dense(t, []float64{2, 1}, []float64{1, 2})
	for name, method := range methods {
		x := []float64{3, 4}
		res, err := method(t.Context(), planOn(t, "cpu:1", a), []float64{0, 0}, x, Options{})
		require.NoError(t, err, name)
		require.True(t, res.Converged)
		require.Equal(t, []float64{0, 0}, x)
	}
	res, err := CG(t.Context(), planOn(t, "cpu:1", dense(t)), nil, nil, Options{})
	require.NoError(t, err)
	require.True(t, res.Converged)
}

func TestScaleOfTheRightHandSideDoesNotMatter(t *testing.T) {
	a := laplacian(t, "stencil:n=20,points=5")
	plan := planOn(t, "cpu:1", a)
	for name, method := range methods {
		for _, exp := range []int{-1000, -600, 600, 1000} {
			b := sines(a.Rows)
			for i := range b {
				b[i] = math.Ldexp(b[i], exp)
			}
			x := make([]float64, a.Rows)
			_, err := method(t.Context(), plan, b, x, Options{})
			require.NoError(t, err, "%s 2^%d", name, exp)
			for i := range b { // exact
				b[i], x[i] = math.Ldexp(b[i], -exp), math.Ldexp(x[i], -exp)
			}
			require.LessOrEqual(t, trueResidual(t, a, b, x), 1.01e-8, "%s 2^%d", name, exp)
		}
	}
}

func TestDeterministicSolvesHaveTheSameBitsOnAllDevices(t *testing.T) {
	a := laplacian(t, "stencil:n=110,points=5") // several blocks of the vectors
	for name, method := range methods {
		var first []float64
		for _, c := range []msrep.Config{{Devices: "cpu:1", Threads: 1}, {Devices: "cpu:1", Threads: 4}, {Devices: "cpu:3"}} {
			sys := openAs(t, c)
			plan := planOf(t, sys, a, msrep.PlanOptions{Deterministic: true})
			x := make([]float64, a.Rows)
			_, err := method(t.Context(), plan, sines(a.Rows), x, Options{})
			require.NoError(t, err)
			if first == nil {
				first = x
			}
			require.True(t, slices.Equal(first, x), "%s on %+v", name, c)
			require.NoError(t, sys.Close())
		}
	}
}

func TestPowerFindsTheLargestEigenvalue(t *testing.T) {
	a := dense(t, []float64{2, 1, 0}, []float64{1, 2, 1}, []float64{0, 1, 2})
	x := make([]float64, 3)
	lambda, res, err := Power(t.Context(), planOn(t, "cpu:1", a), x, Options{Tol: 1e-12})
	require.NoError(t, err)
	require.True(t, res.Converged)
	require.InDelta(t, 2+math.Sqrt2, lambda, 1e-11)
	require.InDelta(t, math.Sqrt2, math.Abs(x[1]/x[0]), 1e-10)
	require.InDelta(t, 1, vec.Dot(x, x), 1e-12)

	turn := dense(t, []float64{0, 1}, []float64{-1, 0})
	_, res, err = Power(t.Context(), planOn(t, "cpu:1", turn), []float64{1, 0.3}, Options{MaxIter: 50})
	var failed *ConvergenceError
	require.ErrorAs(t, err, &failed, "a complex pair")
	require.False(t, res.Converged)

	fibonacci := dense(t, []float64{0, 1}, []float64{1, 1}) // x'A x is 0 at first
	lambda, res, err = Power(t.Context(), planOn(t, "cpu:1", fibonacci), []float64{1, 0}, Options{Tol: 1e-12})
	require.NoError(t, err)
	require.InDelta(t, math.Phi, lambda, 1e-11)
	require.Equal(t, math.MaxFloat64, res.History[0], "a number, as JSON needs")
	swap := dense(t, []float64{0, 1}, []float64{1, 0})
	_, res, err = Power(t.Context(), planOn(t, "cpu:1", swap), []float64{1, 0}, Options{MaxIter: 50})
	require.ErrorIs(t, err, ErrNotConverged, "1 and -1 share the largest magnitude")
	require.Equal(t, math.Inf(1), res.Residual)

	_, _, err = Power(t.Context(), planOn(t, "cpu:1", dense(t)), nil, Options{})
	require.True(t, sparse.IsInput(err))
}

func TestPowerEndsWithAnInfiniteResidualWhereAXVanishes(t *testing.T) {
	for name, c := range map[string]struct {
		a     *sparse.CSR[float64]
		first []float64
	}{
		"zero matrix":              {dense(t, []float64{0, 0}, []float64{0, 0}), []float64{0, 0}},
		"nilpotent matrix":         {dense(t, []float64{0, 1, 0}, []float64{0, 0, 1}, []float64{0, 0, 0}), []float64{0.3, 0.4, 0.5}},
		"nilpotent after one step": {dense(t, []float64{0, 1}, []float64{0, 0}), []float64{1, 1}},
		"entries too small":        {dense(t, []float64{1e-200, 0}, []float64{0, 2e-200}), []float64{1, 1}},
		"entries too large":        {dense(t, []float64{1e200, 0}, []float64{0, 2e200}), []float64{1, 1}},
	} {
		for _, devices := range []string{"cpu:1", "cpu:2", "sim:2"} {
			_, res, err := Power(t.Context(), planOn(t, devices, c.a), slices.Clone(c.first), Options{})
			require.ErrorIs(t, err, ErrBreakdown, name)
			var failed *ConvergenceError
			require.ErrorAs(t, err, &failed)
			require.False(t, res.Converged, name)
			require.Equal(t, math.Inf(1), res.Residual, "%s on %s", name, devices)
			require.Equal(t, math.Inf(1), failed.Residual, name)
		}
	}
}

func TestRefinementWithAFloat32MatrixReachesFloat64(t *testing.T) {
	a := laplacian(t, "stencil:n=60,points=5")
	for k := range a.Val {
		a.Val[k] *= 1 + 1e-3/3 // no float32
	}
	sys := openAs(t, msrep.Config{Devices: "cpu:2"})
	exact := planOf(t, sys, a, msrep.PlanOptions{})
	single := planOf(t, sys, sparse.Convert[float32](a), msrep.PlanOptions{})
	b, x := sines(a.Rows), make([]float64, a.Rows)
	var heard []float64
	res, err := Refine(t.Context(), exact, Single(single), CG, b, x, Options{Tol: 1e-13, Progress: func(_ int, rel float64) { heard = append(heard, rel) }}, Options{})
	require.NoError(t, err)
	require.LessOrEqual(t, trueResidual(t, a, b, x), 1.01e-13)
	require.Positive(t, res.Iterations)
	require.Less(t, res.Iterations, 10)
	require.Len(t, heard, res.Iterations)
	require.Less(t, heard[len(heard)-1], 1e-12)
	require.Len(t, res.History, res.Iterations+1)
	require.Greater(t, res.Products, 3*res.Iterations, "the inner solves count")

	far := laplacian(t, "stencil:n=60,points=5")
	for k := range far.Val {
		far.Val[k] *= 10
	}
	other := planOf(t, sys, far, msrep.PlanOptions{})
	_, err = Refine(t.Context(), exact, other, CG, b, make([]float64, a.Rows), Options{}, Options{})
	require.ErrorIs(t, err, ErrStagnation)
}

// sleepy is an identity preconditioner that sleeps.
type sleepy int

func (n sleepy) Size() int { return int(n) }

func (sleepy) Apply(r, z []float64) error {
	time.Sleep(time.Millisecond)
	copy(z, r)
	return nil
}

func TestTheTimeOfARefinementIncludesItsInnerSolves(t *testing.T) {
	a := dense(t, []float64{2, 1}, []float64{1, 3})
	plan := planOn(t, "cpu:1", a)
	res, err := Refine(t.Context(), plan, plan, CG, []float64{1, 2}, make([]float64, 2), Options{}, Options{Precond: sleepy(2)})
	require.NoError(t, err)
	require.GreaterOrEqual(t, res.Timing.Precond, time.Duration(res.Iterations)*time.Millisecond)
	require.Greater(t, res.Timing.Products, time.Duration(0))
}

func TestProductsInFloat32ApplyAlphaAndBetaInFloat64(t *testing.T) {
	a, err := sparse.NewCSR(2, 2, []int64{0, 2, 3}, []int32{0, 1, 1}, []float32{1, 2, 3})
	require.NoError(t, err)
	plan := planOf(t, open(t, "cpu:1"), a, msrep.PlanOptions{})
	const third = 1.0 / 3
	single := Single(plan) // whose memory is used again
	for beta, want := range map[float64][]float64{0: {5 * third, 6 * third}, 1: {5*third + 7, 6*third + 9}, third: {5*third + 7*third, 6*third + 9*third}} {
		y := []float64{7, 9}
		if beta == 0 {
			y = []float64{math.NaN(), math.Inf(1)}
		}
		err = single.SpMV(t.Context(), msrep.NoTrans, third, []float64{1, 2}, beta, y)
		require.NoError(t, err)
		require.InDeltaSlice(t, want, y, 1e-14)
	}
}

// The bytes that an iteration allocates do not grow with the vectors.
func TestAllocationsOfAnIterationDoNotGrowWithTheVectors(t *testing.T) {
	for name, method := range methods {
		var counts []float64
		for _, spec := range []string{"stencil:n=60,points=5", "stencil:n=300,points=5"} { // one block, and 22
			a := laplacian(t, spec)
			sys, err := msrep.Open(msrep.Config{Devices: "cpu:1", Threads: 1})
			require.NoError(t, err)
			plan, err := msrep.NewPlan(t.Context(), sys, a, msrep.PlanOptions{Storage: msrep.Storage{Format: sparse.FormatCSR}})
			require.NoError(t, err)
			b, x := sines(a.Rows), make([]float64, a.Rows)
			counts = append(counts, testing.AllocsPerRun(3, func() {
				clear(x)
				_, err := method(t.Context(), plan, b, x, Options{MaxIter: 20, Tol: 1e-14})
				require.ErrorIs(t, err, ErrNotConverged)
			}))
			require.NoError(t, sys.Close())
		}
		require.InDelta(t, counts[0], counts[1], 20, "%s: less than one for each iteration", name)
	}
}
