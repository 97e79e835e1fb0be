package solver

import (
	"context"
	"maps"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/solver/internal/space"
	"github.com/msrep-go/msrep/sparse"
)

// scaledNames are the methods that tests run at many scales.
var scaledNames = append(slices.Sorted(maps.Keys(methods)), "many", "refine")

// scaledBy returns 2^exp * v.
func scaledBy(v []float64, exp int) []float64 {
	out := slices.Clone(v)
	space.ScaleBy(out, exp)
	return out
}

// scaledPlan returns a plan for 2^exp * a.
func scaledPlan(t *testing.T, sys *msrep.System, a *sparse.CSR[float64], exp int, opt msrep.PlanOptions) *msrep.Plan[float64] {
	m := *a
	m.Val = scaledBy(a.Val, exp)
	plan := planOf(t, sys, &m, opt)
	return plan
}

// many solves one system by CGMany, together with the same system scaled to numbers of about 1.
func many(ctx context.Context, a Operator, b, x []float64, opt Options) (*Result, error) {
	two := func(v []float64, exp int) msrep.MultiVector[float64] {
		return msrep.MultiVector[float64]{Val: slices.Concat(v, scaledBy(v, exp)), Count: 2, Stride: len(v), ByColumn: true}
	}
	rhs, out := two(b, -space.Exponent(space.LargestOf(b))), two(x, 0)
	res, err := CGMany(ctx, a.(ManyOperator), rhs, out, opt)
	if res == nil {
		return nil, err
	}
	out.Get(0, x)
	if res[0].Converged {
		return res[0], nil
	}
	return res[0], err
}

// requireHonest solves 2^i*A x = 2^j*b and checks the result with A 2^(i-j)*x = b.
func requireHonest(t *testing.T, name string, plan *msrep.Plan[float64], a *sparse.CSR[float64], i, j int) {
	method := many
	if name != "many" {
		method = allMethods()[name]
	}
	b, x := sines(a.Rows), make([]float64, a.Rows)
	res, err := method(t.Context(), plan, scaledBy(b, j), x, Options{})
	if err != nil {
		var gaveUp *ConvergenceError
		require.ErrorAs(t, err, &gaveUp, "%s: 2^%d A, 2^%d b", name, i, j)
		require.False(t, res.Converged)
		require.False(t, res.Residual <= DefaultTol, "%s: %v", name, err)
		inRange := -900 < j-i && j-i < 900 && -200 < i && i < 200
		require.False(t, inRange, "%s: 2^%d A, 2^%d b: %v", name, i, j, err)
		return
	}
	require.True(t, res.Converged)
	require.True(t, space.Finite(space.LargestOf(x)), "%s: 2^%d A, 2^%d b", name, i, j)
	rel := trueResidual(t, a, b, scaledBy(x, i-j))
	require.LessOrEqual(t, rel, 1.01*DefaultTol, "%s: 2^%d A, 2^%d b", name, i, j)
	require.InDelta(t, rel, res.Residual, 1e-3*DefaultTol, "%s: 2^%d A, 2^%d b", name, i, j)
}

func TestSolutionsThatLeaveTheRangeOfNumbersAreNotConverged(t *testing.T) {
	a := laplacian(t, "stencil:n=5,points=5")
	for _, on := range []struct {
		devices string
		opt     msrep.PlanOptions
	}{{"cpu:1", msrep.PlanOptions{}}, {"cpu:2", msrep.PlanOptions{Deterministic: true}}, {"sim:2", msrep.PlanOptions{}}} {
		sys := open(t, on.devices)
		for _, c := range []struct{ i, j int }{
			{-350, 675}, {350, -710}, // x just leaves the range: some elements, some bits
			{-500, 664}, {500, -664}, {-1000, 900}, {-60, 1000}, {60, -1000}, // by far
		} {
			if on.devices == "sim:2" && c.i != -350 && c.i != 350 {
				continue
			}
			plan := scaledPlan(t, sys, a, c.i, on.opt)
			for _, name := range scaledNames {
				requireHonest(t, name, plan, a, c.i, c.j)
			}
		}
	}
}

func TestProcessesAgreeThatASolutionLeavesTheRange(t *testing.T) {
	a := laplacian(t, "stencil:n=6,points=5")
	b := sines(a.Rows)
	clear(b[:a.Rows/2])
	a.Val = scaledBy(a.Val, -350)
	for name, method := range allMethods() {
		if name == "power" {
			continue
		}
		x, _, errs := together(members(t, a, false, a.Rows/2), scaledBy(b, 675), func(m *member, b, x []float64) (*Result, error) {
			return method(t.Context(), m, b, x, Options{})
		})
		require.True(t, space.Finite(space.LargestOf(x[:6])) && !space.Finite(space.LargestOf(x)), "%s: of one process only", name)
		for _, err := range errs {
			require.ErrorIs(t, err, ErrBreakdown, name)
		}
	}
}

func TestSolvesAtAnyScaleAreRightOrSayThatTheyAreNot(t *testing.T) {
	a := laplacian(t, "stencil:n=5,points=5")
	sys := open(t, "cpu:1")
	rapid.Check(t, func(r *rapid.T) {
		i, j := rapid.IntRange(-1010, 1010).Draw(r, "A"), rapid.IntRange(-1010, 1010).Draw(r, "b")
		plan := scaledPlan(t, sys, a, i, msrep.PlanOptions{Deterministic: rapid.Bool().Draw(r, "deterministic")})
		defer plan.Close()
		for _, name := range scaledNames {
			requireHonest(t, name, plan, a, i, j)
		}
	})
}

func TestPowerFindsTheVectorAtAnyScaleOrSaysThatItDoesNot(t *testing.T) {
	a := dense(t, []float64{2, 1, 0}, []float64{1, 2, 1}, []float64{0, 1, 2})
	for devices, exps := range map[string][]int{
		"cpu:1": {-1000, -700, -540, -530, -520, -500, -440, 0, 500, 530, 1000}, "sim:2": {-530, -440, 500, 530},
	} {
		sys := open(t, devices)
		for _, exp := range exps {
			x := make([]float64, 3)
			lambda, res, err := Power(t.Context(), scaledPlan(t, sys, a, exp, msrep.PlanOptions{}), x, Options{Tol: 1e-12})
			if err != nil {
				require.ErrorIs(t, err, ErrBreakdown)
				require.False(t, res.Converged)
				require.True(t, exp < -450 || exp > 500, "2^%d", exp)
				continue
			}
			require.True(t, res.Converged)
			require.InDelta(t, 2+math.Sqrt2, math.Ldexp(lambda, -exp), 1e-11, "2^%d", exp)
			require.InDelta(t, math.Sqrt2, math.Abs(x[1]/x[0]), 1e-10, "2^%d", exp)
			require.InDelta(t, 1, x[0]*x[0]+x[1]*x[1]+x[2]*x[2], 1e-12)
		}
	}
}

// TestMaxIterEndsSolvesThatConvergeOnlyByTheRecurrence solves a system of squares that
// underflow: each restart finds an exact solution, and a residual that says otherwise.
func TestMaxIterEndsSolvesThatConvergeOnlyByTheRecurrence(t *testing.T) {
	a := &sparse.CSR[float64]{Rows: 3, Cols: 3, RowPtr: []int64{0, 1, 2, 3}, ColIdx: []int32{0, 1, 2}, Val: []float64{1e-170, 1e-172, 1e-174}}
	sys := openAs(t, msrep.Config{Devices: "cpu"})
	plan := scaledPlan(t, sys, a, 0, msrep.PlanOptions{})
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	res, err := GMRES(ctx, plan, []float64{1, 1, 1}, make([]float64, 3), Options{MaxIter: 50})
	require.ErrorIs(t, err, ErrNotConverged)
	require.Equal(t, 50, res.Iterations)
}

func TestGMRESDoesNotCallALargeMatrixSingular(t *testing.T) {
	a := &sparse.CSR[float64]{Rows: 3, Cols: 3, RowPtr: []int64{0, 1, 2, 3}, ColIdx: []int32{0, 1, 2}, Val: []float64{1e170, 1e168, 1e172}}
	sys := openAs(t, msrep.Config{Devices: "cpu"})
	_, err := GMRES(t.Context(), scaledPlan(t, sys, a, 0, msrep.PlanOptions{}), []float64{1, 1, 1}, make([]float64, 3), Options{})
	require.ErrorIs(t, err, ErrBreakdown)
	require.ErrorContains(t, err, "scale the matrix")
}
