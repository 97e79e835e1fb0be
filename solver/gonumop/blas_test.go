package gonumop_test

import (
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/exp/linsolve"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/msrep-go/msrep/solver"
	"github.com/msrep-go/msrep/solver/gonumop"
)

// parallelBLAS makes gonum use gonumop.ParallelBLAS until the test ends.
func parallelBLAS(t testing.TB) {
	was := blas64.Implementation()
	blas64.Use(gonumop.ParallelBLAS(was))
	t.Cleanup(func() { blas64.Use(was) })
}

func TestVectorOperationsOnAllCPUsGiveTheResultsOfOneCPU(t *testing.T) {
	one := blas64.Implementation()
	all := gonumop.ParallelBLAS(one)
	r := rand.New(rand.NewPCG(2, 2))
	for _, n := range []int{0, 1, 8192, 8193, 100_003} {
		for _, inc := range []int{1, 2, -1} {
			x, y := make([]float64, 2*n+1), make([]float64, 2*n+1)
			for i := range x {
				x[i], y[i] = r.NormFloat64(), r.NormFloat64()
			}
			require.InDelta(t, one.Ddot(n, x, inc, y, inc), all.Ddot(n, x, inc, y, inc), 1e-11*float64(n+1))
			require.InEpsilon(t, 1+one.Dnrm2(n, x, inc), 1+all.Dnrm2(n, x, inc), 1e-14)
			to := make([]float64, len(y))
			one.Dcopy(n, x, inc, y, inc)
			all.Dcopy(n, x, inc, to, inc)
			if inc == 1 {
				require.Equal(t, y[:n], to[:n])
			}
		}
	}
	require.Panics(t, func() { all.Ddot(20_000, make([]float64, 10_000), 1, make([]float64, 20_000), 1) })
	require.Panics(t, func() { all.Dnrm2(20_000, make([]float64, 10_000), 1) })
	require.Panics(t, func() { all.Dcopy(20_000, make([]float64, 20_000), 1, make([]float64, 10_000), 1) })
}

func TestVectorOperationsDoNotDependOnTheNumberOfCPUs(t *testing.T) {
	b := gonumop.ParallelBLAS(blas64.Implementation())
	x, y := make([]float64, 200_000), make([]float64, 200_000)
	for i := range x {
		x[i], y[i] = math.Sin(float64(i)), math.Cos(float64(3*i))
	}
	dot, norm := b.Ddot(len(x), x, 1, y, 1), b.Dnrm2(len(x), x, 1)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for _, cpus := range []int{1, 2, 5} {
		runtime.GOMAXPROCS(cpus)
		require.Equal(t, dot, b.Ddot(len(x), x, 1, y, 1))
		require.Equal(t, norm, b.Dnrm2(len(x), x, 1))
	}
}

func TestNormsOfVeryLargeAndVerySmallElementsAreRight(t *testing.T) {
	b := gonumop.ParallelBLAS(blas64.Implementation())
	const n = 40_000
	for _, v := range []float64{0, 1e-320, 1e-200, 1e-140, 1, 1e160, 1e300} {
		x := make([]float64, n)
		for i := range x {
			x[i] = v
		}
		require.InEpsilon(t, 1e-300+math.Sqrt(n)*v, 1e-300+b.Dnrm2(n, x, 1), 1e-13, "%g", v)
		x[n/2] = math.Inf(-1)
		require.Equal(t, math.Inf(1), b.Dnrm2(n, x, 1))
		x[n-1] = math.NaN()
		require.True(t, math.IsNaN(b.Dnrm2(n, x, 1)))
	}
}

func TestCopiesOfOverlappingVectorsAreCorrect(t *testing.T) {
	b := gonumop.ParallelBLAS(blas64.Implementation())
	const n, apart = 100_000, 30_000
	for _, shift := range [][2]int{{0, apart}, {apart, 0}} { // copying piece by piece would overwrite elements before they are read
		x := make([]float64, n+apart)
		for i := range x {
			x[i] = float64(i)
		}
		b.Dcopy(n, x[shift[0]:], 1, x[shift[1]:], 1)
		for i := range n {
			require.Equal(t, float64(i+shift[0]), x[i+shift[1]])
		}
	}
}

func TestGonumSolvesWithParallelVectorOperations(t *testing.T) {
	parallelBLAS(t)
	a, plan := planOf(t, "stencil:n=120,points=5")
	b, want := make([]float64, a.Rows), make([]float64, a.Rows)
	for i := range b {
		b[i] = math.Sin(float64(i + 1))
	}
	_, err := solver.CG(t.Context(), plan, b, want, solver.Options{Tol: 1e-12})
	require.NoError(t, err)
	op := gonumop.New(t.Context(), plan)
	res, err := linsolve.Iterative(op, mat.NewVecDense(a.Rows, b), &linsolve.CG{}, &linsolve.Settings{Tolerance: 1e-12, PreconSolve: gonumop.PreconSolve(nil)})
	require.NoError(t, err)
	require.NoError(t, op.Err())
	require.InDeltaSlice(t, want, res.X.RawVector().Data, 1e-6)
}
