package amg_test

import (
	"context"
	"math"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/solver"
	"github.com/msrep-go/msrep/solver/amg"
	"github.com/msrep-go/msrep/sparse"
)

var background = context.Background()

// solve solves with a and b = random by m, and returns the number of iterations.
func solve(t *testing.T, sys *msrep.System, a *sparse.CSR[float64], method solver.Method, opt amg.Options) int {
	t.Helper()
	m, err := amg.New(background, sys, a, opt)
	require.NoError(t, err)
	defer func() { require.NoError(t, m.Close()) }()
	plan, err := msrep.NewPlan(background, sys, a, msrep.PlanOptions{})
	require.NoError(t, err)
	defer plan.Close()
	res, err := method(background, plan, random(a.Rows), make([]float64, a.Rows), solver.Options{Precond: m, MaxIter: 500})
	require.NoError(t, err)
	return res.Iterations
}

func TestIterationsHardlyGrowWithTheProblem(t *testing.T) {
	sys := system(t, msrep.Config{})
	for _, double := range []bool{false, true} {
		opt := amg.Options{Double: double}
		require.LessOrEqual(t, solve(t, sys, poisson(40, 40, 1), solver.CG, opt), 11)
		require.LessOrEqual(t, solve(t, sys, poisson(320, 320, 1), solver.CG, opt), 13)
		require.LessOrEqual(t, solve(t, sys, poisson(12, 12, 12), solver.CG, opt), 9)
		require.LessOrEqual(t, solve(t, sys, poisson(40, 40, 40), solver.CG, opt), 12)
	}
}

// By default a cycle visits levels twice that take little time. Grids of 16 times as many cells then need at most a third more
// iterations, and fewer than with V-cycles.
func TestVisitsByTheSizesOfLevelsKeepTheNumberOfIterations(t *testing.T) {
	sys := system(t, msrep.Config{})
	wind := func(n float64) *sparse.CSR[float64] {
		return grid([3]float64{n, n, 1}, [3]float64{1, 1, 1}, [3]float64{50 / n, 100 / n}, nil, false)
	}
	anisotropic := func(n float64) *sparse.CSR[float64] {
		return grid([3]float64{n, n, 1}, [3]float64{1, 0.001, 1}, [3]float64{}, nil, false)
	}
	for name, c := range map[string]struct {
		small, large *sparse.CSR[float64]
		method       solver.Method
	}{
		"convection": {wind(150), wind(600), solver.BiCGSTAB},
		"anisotropy": {anisotropic(150), anisotropic(600), solver.CG},
		"Poisson 2D": {poisson(150, 150, 1), poisson(600, 600, 1), solver.CG},
	} {
		small, large, v := solve(t, sys, c.small, c.method, amg.Options{}), solve(t, sys, c.large, c.method, amg.Options{}), solve(t, sys, c.large, c.method, amg.Options{Visits: 1})
		t.Logf("%s: %d and %d iterations, with V-cycles %d", name, small, large, v)
		require.LessOrEqual(t, 3*large, 4*small, name)
		require.Less(t, large, v, name)
	}
}

func TestElasticityWithRigidBodyModes(t *testing.T) {
	sys := system(t, msrep.Config{})
	a, at := elasticity(60, 60, 0.3, 0.3)
	near, err := amg.RigidBodyModes(at, 2)
	require.NoError(t, err)
	with := solve(t, sys, a, solver.CG, amg.Options{NearNull: near, Block: 2})
	translations := solve(t, sys, a, solver.CG, amg.Options{Block: 2})
	require.LessOrEqual(t, with, 14)
	require.Greater(t, translations, with)
	require.Equal(t, translations, solve(t, sys, a, solver.CG, amg.Options{}), "the structure shows the size of a node")
	require.Greater(t, solve(t, sys, a, solver.CG, amg.Options{Block: 1}), translations)
}

func TestEveryMethodTakesThePreconditioner(t *testing.T) {
	sys := system(t, msrep.Config{})
	a := poisson(60, 50, 1)
	for name, m := range map[string]solver.Method{
		"cg": solver.CG, "gmres": solver.GMRES, "fgmres": solver.FGMRES, "bicgstab": solver.BiCGSTAB, "minres": solver.MINRES,
		"idr": solver.IDR,
	} {
		require.LessOrEqual(t, solve(t, sys, a, m, amg.Options{}), 25, name)
	}
	require.LessOrEqual(t, solve(t, sys, a, solver.Richardson, amg.Options{Visits: 2}), 40)
}

// The preconditioner is a symmetric matrix: x'M y = y'M x.
func TestCycleIsSymmetric(t *testing.T) {
	sys := system(t, msrep.Config{})
	a := poisson(70, 60, 1)
	for visits := 1; visits <= 2; visits++ {
		m, err := amg.New(background, sys, a, amg.Options{Double: true, Visits: visits, CoarseSize: 30})
		require.NoError(t, err)
		defer m.Close()
		require.Greater(t, len(m.Levels()), 2)
		x, y := random(a.Rows), make([]float64, a.Rows)
		for i := range y {
			y[i] = math.Sin(float64(i * i))
		}
		mx, my := make([]float64, a.Rows), make([]float64, a.Rows)
		require.NoError(t, m.Apply(x, mx))
		require.NoError(t, m.Apply(y, my))
		require.InEpsilon(t, dot(x, my), dot(y, mx), 1e-10)
		require.Positive(t, dot(x, mx))
	}
}

func dot(x, y []float64) (sum float64) {
	for i := range x {
		sum += x[i] * y[i]
	}
	return sum
}

func TestSingularMatrices(t *testing.T) {
	sys := system(t, msrep.Config{})
	one := [3]float64{1, 1, 1}
	for _, size := range [][3]float64{{60, 60, 1}, {12, 12, 12}, {15, 15, 1}} {
		a := grid(size, one, [3]float64{}, nil, true)
		m, err := amg.New(background, sys, a, amg.Options{})
		require.NoError(t, err)
		plan, err := msrep.NewPlan(background, sys, a, msrep.PlanOptions{})
		require.NoError(t, err)
		b := random(a.Rows)
		mean := 0.0
		for _, v := range b {
			mean += v / float64(len(b))
		}
		for i := range b {
			b[i] -= mean
		}
		res, err := solver.CG(background, plan, b, make([]float64, a.Rows), solver.Options{Precond: m, MaxIter: 40})
		require.NoError(t, err)
		require.LessOrEqual(t, res.Iterations, 15)
		require.NoError(t, plan.Close())
		require.NoError(t, m.Close())
	}
}

func TestScaleDoesNotMatter(t *testing.T) {
	sys := system(t, msrep.Config{})
	a := poisson(40, 40, 1)
	want := solve(t, sys, a, solver.CG, amg.Options{})
	for _, scale := range []float64{1e-30, 1e30, 1e-100, 1e100} {
		b := *a
		b.Val = make([]float64, len(a.Val))
		for i, v := range a.Val {
			b.Val[i] = v * scale
		}
		require.Equal(t, want, solve(t, sys, &b, solver.CG, amg.Options{}), scale)
	}
	m, err := amg.New(background, sys, a, amg.Options{})
	require.NoError(t, err)
	defer m.Close()
	x, y, z := random(a.Rows), make([]float64, a.Rows), make([]float64, a.Rows)
	require.NoError(t, m.Apply(x, y))
	for _, exp := range []int{-900, -130, 130, 900} {
		scaled := make([]float64, len(x))
		for i, v := range x {
			scaled[i] = math.Ldexp(v, exp)
		}
		require.NoError(t, m.Apply(scaled, z))
		for i := range z {
			require.Equal(t, math.Ldexp(y[i], exp), z[i])
		}
	}
}

func TestSmallAndUnusualMatrices(t *testing.T) {
	sys := system(t, msrep.Config{})
	diagonal := func(n int) *sparse.CSR[float64] {
		a := &sparse.CSR[float64]{Rows: n, Cols: n, RowPtr: []int64{0}}
		for i := range n {
			a.ColIdx, a.Val, a.RowPtr = append(a.ColIdx, int32(i)), append(a.Val, float64(1+i%7)), append(a.RowPtr, int64(i+1))
		}
		return a
	}
	require.LessOrEqual(t, solve(t, sys, diagonal(1), solver.CG, amg.Options{}), 1)
	require.LessOrEqual(t, solve(t, sys, diagonal(5000), solver.CG, amg.Options{}), 20) // no couplings: the smoother only
	require.LessOrEqual(t, solve(t, sys, poisson(60, 60, 1), solver.CG, amg.Options{MaxLevels: 1}), 60)
	require.LessOrEqual(t, solve(t, sys, poisson(60, 60, 1), solver.CG, amg.Options{MaxLevels: 2}), 30)

	zero := &sparse.CSR[float64]{Rows: 1, Cols: 1, RowPtr: []int64{0, 0}}
	m, err := amg.New(background, sys, zero, amg.Options{})
	require.NoError(t, err)
	z := []float64{7}
	require.NoError(t, m.Apply([]float64{1}, z))
	require.Equal(t, []float64{0}, z)
	require.NoError(t, m.Close())
}

func TestConcurrentCalls(t *testing.T) {
	sys := system(t, msrep.Config{})
	a := poisson(60, 60, 1)
	m, err := amg.New(background, sys, a, amg.Options{})
	require.NoError(t, err)
	defer m.Close()
	x, want := random(a.Rows), make([]float64, a.Rows)
	require.NoError(t, m.Apply(x, want))
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			z := make([]float64, a.Rows)
			for range 5 {
				if err := m.Apply(x, z); err != nil {
					t.Error(err)
				}
			}
			for i := range z {
				if z[i] != want[i] {
					t.Errorf("element %d is %g, not %g", i, z[i], want[i])
					return
				}
			}
		})
	}
	wait.Wait()
}

func TestOptionsAndMatricesAreChecked(t *testing.T) {
	sys := system(t, msrep.Config{})
	a := poisson(30, 20, 1)
	short, nan := make([]float64, 3), make([]float64, a.Rows)
	nan[7] = math.NaN()
	for says, opt := range map[string]amg.Options{
		"block: 7: use a positive divisor of the 600 rows": {Block: 7},
		"block: -1":              {Block: -1},
		"strength: 1:":           {Strength: 1},
		"degree: 17":             {Degree: 17},
		"degree: -1":             {Degree: -1},
		"visits: 3":              {Visits: 3},
		"coarse size: 2001":      {CoarseSize: 2001},
		"coarse size: -1":        {CoarseSize: -1},
		"max levels: -1":         {MaxLevels: -1},
		"vector 0 has 3 element": {NearNull: [][]float64{short}},
		"vector 1, element 7":    {NearNull: [][]float64{make([]float64, a.Rows), nan}},
	} {
		_, err := amg.New(background, sys, a, opt)
		require.ErrorContains(t, err, says)
		require.True(t, sparse.IsInput(err))
	}
	_, err := amg.New(background, sys, a, amg.Options{Strength: math.NaN()})
	require.ErrorContains(t, err, "strength: NaN")
	_, err = amg.New(background, new(msrep.System), a, amg.Options{})
	require.ErrorIs(t, err, msrep.ErrClosed)
	for _, v := range []float64{0, 1e-200, 1e200} {
		near := make([]float64, a.Rows)
		near[5] = -v
		_, err := amg.New(background, sys, a, amg.Options{NearNull: [][]float64{near}})
		require.ErrorContains(t, err, "near null space: ", v)
		require.True(t, sparse.IsInput(err))
	}
	wide := &sparse.CSR[float64]{Rows: 1, Cols: 2, RowPtr: []int64{0, 0}}
	infinite := &sparse.CSR[float64]{Rows: 1, Cols: 1, RowPtr: []int64{0, 1}, ColIdx: []int32{0}, Val: []float64{math.Inf(1)}}
	for says, m := range map[string]*sparse.CSR[float64]{
		"matrix: 1 x 2": wide, "matrix: has no rows": {RowPtr: []int64{0}}, "row 0, column 0 is +Inf": infinite, "matrix: is nil": nil,
	} {
		_, err := amg.New(background, sys, m, amg.Options{})
		require.ErrorContains(t, err, says)
	}
	_, err = amg.New(background, nil, a, amg.Options{})
	require.ErrorContains(t, err, "system: is nil")
	var none context.Context
	_, err = amg.New(none, sys, a, amg.Options{})
	require.ErrorContains(t, err, "context")
	ended, end := context.WithCancel(background)
	end()
	_, err = amg.New(ended, sys, a, amg.Options{})
	require.ErrorIs(t, err, context.Canceled)
	defer mem.SetAvailable(1 << 16)()
	_, err = amg.New(background, sys, poisson(60, 60, 1), amg.Options{})
	require.ErrorContains(t, err, "a multigrid hierarchy takes about")
}

func TestPreconditionersThatNewDidNotMakeAreErrors(t *testing.T) {
	for _, p := range []*amg.Preconditioner{nil, {}} {
		require.True(t, sparse.IsInput(p.Apply(nil, nil)))
		require.True(t, sparse.IsInput(p.ApplyVector(background, nil, nil)))
		require.Zero(t, p.Size())
		require.Zero(t, p.Bytes())
		require.Zero(t, p.OperatorComplexity())
		require.Empty(t, p.Levels())
		require.NoError(t, p.Close())
	}
}

// The powers of two that scale the right-hand side and its result back stay in the range.
func TestRightHandSidesNearTheLargestNumber(t *testing.T) {
	sys := system(t, msrep.Config{})
	a := poisson(40, 40, 1)
	m, err := amg.New(background, sys, a, amg.Options{})
	require.NoError(t, err)
	defer m.Close()
	r, want, z := make([]float64, a.Rows), make([]float64, a.Rows), make([]float64, a.Rows)
	r[0] = 1.5
	require.NoError(t, m.Apply(r, want))
	r[0] = math.Ldexp(1.5, 1023)
	require.NoError(t, m.Apply(r, z))
	for i := range z {
		require.Equal(t, math.Ldexp(want[i], 1023), z[i])
	}
}

// Vectors of the near null space may be zero or dependent.
func TestDependentNearNullVectors(t *testing.T) {
	sys := system(t, msrep.Config{})
	a := poisson(40, 40, 1)
	one, two := make([]float64, a.Rows), make([]float64, a.Rows)
	for i := range one {
		one[i], two[i] = 1, 2
	}
	require.LessOrEqual(t, solve(t, sys, a, solver.CG, amg.Options{NearNull: [][]float64{one, make([]float64, a.Rows), two}}), 15)
}

// Values far from 1 that products would leave the range with are an error or a solution, never a NaN.
func TestExtremeMatrices(t *testing.T) {
	sys := system(t, msrep.Config{})
	for _, scale := range []float64{1e-310, 1e-300, 1e-20, 1e20, 1e300, 5e307} {
		a := poisson(40, 40, 1)
		for i := range a.Val {
			a.Val[i] *= scale
		}
		m, err := amg.New(background, sys, a, amg.Options{})
		if err != nil {
			require.True(t, sparse.IsInput(err), err)
			continue
		}
		r, z := random(a.Rows), make([]float64, a.Rows)
		for i := range r {
			r[i] *= scale
		}
		require.NoError(t, m.Apply(r, z))
		for i := range z {
			require.Less(t, math.Abs(z[i]), 1e4, scale)
		}
		require.NoError(t, m.Close())
	}
}
