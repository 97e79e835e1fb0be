package solver

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/vec"
	"github.com/msrep-go/msrep/sparse"
)

// shifted returns the 5-point Laplacian of a square of n x n minus shift*I, with rows and columns multiplied by numbers
// from 1 to 5: symmetric, and indefinite for a shift between its eigenvalues.
func shifted(t require.TestingT, spec string, shift float64) *sparse.CSR[float64] {
	a := laplacian(t, spec)
	for i := range a.Rows {
		for k := a.RowPtr[i]; k < a.RowPtr[i+1]; k++ {
			if int(a.ColIdx[k]) == i {
				a.Val[k] -= shift
			}
			a.Val[k] *= (1 + float64(i%5)) * (1 + float64(a.ColIdx[k]%5))
		}
	}
	return a
}

func TestMINRESSolvesSymmetricIndefiniteSystems(t *testing.T) {
	for devices, spec := range map[string]string{"cpu:1": "stencil:n=30,points=5", "cpu:3": "stencil:n=30,points=5", "sim:1": "stencil:n=4,points=5", "sim:2": "stencil:n=4,points=5", "sim:6": "stencil:n=4,points=5"} {
		a := shifted(t, spec, 1.23)
		plan, b := planOn(t, devices, a), sines(a.Rows)
		scale := &jacobi{make([]float64, a.Rows)} // positive definite, as the diagonal itself is not
		for i := range scale.inverse {
			scale.inverse[i] = 1 / float64((1+i%5)*(1+i%5))
		}
		for name, m := range map[string]Preconditioner{"none": nil, "scale": scale} {
			x := make([]float64, a.Rows)
			res, err := MINRES(t.Context(), plan, b, x, Options{Tol: 1e-10, Precond: m})
			require.NoError(t, err, "%s on %s", name, devices)
			require.LessOrEqual(t, trueResidual(t, a, b, x), 1.01e-10, "%s on %s", name, devices)
			require.Len(t, res.History, res.Iterations+1)
			require.InDelta(t, res.Residual, res.History[res.Iterations], 1e-11, "the recurrence gives the residual in the 2-norm")
			if m == nil {
				for i := 1; i < len(res.History); i++ {
					require.LessOrEqual(t, res.History[i], res.History[i-1]*(1+1e-12), "the residual never grows")
				}
			}
			if devices == "cpu:1" {
				t.Logf("%s: %d iterations", name, res.Iterations)
			}
		}
	}
}

// MINRES needs as many iterations as the matrix has different eigenvalues.
func TestMINRESEndsInItsKrylovSpace(t *testing.T) {
	a := dense(t, []float64{0, 1, 0, 0}, []float64{1, 0, 0, 0}, []float64{0, 0, 2, 0}, []float64{0, 0, 0, 2}) // 1, -1, 2
	x := make([]float64, 4)
	res, err := MINRES(t.Context(), planOn(t, "cpu:1", a), []float64{1, 2, 3, 4}, x, Options{Tol: 1e-14})
	require.NoError(t, err)
	require.Equal(t, 3, res.Iterations)
	require.InDeltaSlice(t, []float64{2, 1, 1.5, 2}, x, 1e-13)
}

func TestMINRESSolvesSingularSystemsThatHaveASolution(t *testing.T) {
	for _, devices := range []string{"cpu:2", "sim:2"} {
		a := path(t, 60)
		want, b := sines(a.Rows), make([]float64, a.Rows)
		plan := planOn(t, devices, a)
		require.NoError(t, plan.SpMV(t.Context(), false, 1, want, 0, b))
		x := make([]float64, a.Rows)
		_, err := MINRES(t.Context(), plan, b, x, Options{})
		require.NoError(t, err, devices)
		require.LessOrEqual(t, trueResidual(t, a, b, x), 1.01e-8)
	}
}

// path is the Laplacian of a path of n nodes, whose null space is the constant vectors.
func path(t require.TestingT, n int) *sparse.CSR[float64] {
	rows := make([][]float64, n)
	for i := range rows {
		rows[i] = make([]float64, n)
		for _, j := range []int{i - 1, i + 1} {
			if j >= 0 && j < n {
				rows[i][j], rows[i][i] = -1, rows[i][i]+1
			}
		}
	}
	return dense(t, rows...)
}

func TestMINRESSaysThatASystemHasNoSolution(t *testing.T) {
	for _, devices := range []string{"cpu:2", "sim:2"} {
		const n = 60
		a, b := path(t, n), sines(n)
		mean := 0.0
		for _, v := range b {
			mean += v / n
		}
		plan := planOn(t, devices, a)
		x := make([]float64, n)
		res, err := MINRES(t.Context(), plan, b, x, Options{})
		require.ErrorIs(t, err, ErrInconsistent, devices)
		require.False(t, res.Converged)
		require.True(t, res.LeastSquares)
		least := math.Abs(mean) * math.Sqrt(n) / math.Sqrt(vec.Dot(b, b)) // the part of b in the null space
		require.InEpsilon(t, least, trueResidual(t, a, b, x), 1e-10)
		require.InEpsilon(t, least, res.Residual, 1e-10)

		scale := &jacobi{make([]float64, n)}
		for i := range scale.inverse {
			scale.inverse[i] = 1 + float64(i%3)
		}
		res, err = MINRES(t.Context(), plan, b, x, Options{Precond: scale})
		require.ErrorIs(t, err, ErrInconsistent, devices)
		require.False(t, res.LeastSquares, "the norm is that of the preconditioner")
	}
	res, err := MINRES(t.Context(), planOn(t, "cpu:1", dense(t, []float64{0, 0}, []float64{0, 1})), []float64{1, 0}, make([]float64, 2), Options{})
	require.ErrorIs(t, err, ErrInconsistent)
	require.True(t, res.LeastSquares)
	require.InDelta(t, 1, res.Residual, 1e-15)
}

// A system that is close to a singular one, but has a solution, is not called inconsistent.
func TestMINRESDoesNotCallIllConditionedSystemsInconsistent(t *testing.T) {
	a := &sparse.CSR[float64]{Rows: 50, Cols: 50, RowPtr: []int64{0}}
	for i := range a.Rows {
		a.ColIdx, a.Val = append(a.ColIdx, int32(i)), append(a.Val, math.Pow(-10, -float64(i)/5))
		a.RowPtr = append(a.RowPtr, int64(i+1))
	}
	for i := range a.Val { // both signs, from 1 to 1.6e-10
		a.Val[i] = math.Pow(10, -float64(i)/5) * float64(1-2*(i%2))
	}
	x := make([]float64, a.Rows)
	_, err := MINRES(t.Context(), planOn(t, "cpu:1", a), sines(a.Rows), x, Options{MaxIter: 400})
	if err != nil {
		require.NotErrorIs(t, err, ErrInconsistent)
	}
}

func TestMINRESNamesWhatIsNotSymmetricOrNotDefinite(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	a := laplacian(t, "stencil:n=8,points=5")
	plan, b := planOn(t, "cpu:1", a), sines(a.Rows)
	negative := &jacobi{make([]float64, a.Rows)}
	for i := range negative.inverse {
		negative.inverse[i] = random.Float64() - 0.5
	}
	_, err := MINRES(t.Context(), plan, b, make([]float64, a.Rows), Options{Precond: negative})
	require.ErrorIs(t, err, ErrBreakdown)
	require.ErrorContains(t, err, "the preconditioner is not positive definite")

	for k := range a.Val {
		a.Val[k] *= random.Float64()
	}
	_, err = MINRES(t.Context(), planOn(t, "cpu:1", a), b, make([]float64, a.Rows), Options{})
	require.ErrorIs(t, err, ErrBreakdown)
	require.ErrorContains(t, err, "the matrix is not symmetric")
}
