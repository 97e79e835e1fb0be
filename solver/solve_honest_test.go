package solver

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/sparse"
)

// exactResidual returns |b - A x|/|b| computed with 300 bits, so that no scale overflows or underflows.
func exactResidual(a *sparse.CSR[float64], b, x []float64) float64 {
	number := func(v float64) *big.Float { return new(big.Float).SetPrec(300).SetFloat64(v) }
	rr, bb := number(0), number(0)
	for i := range b {
		r := number(b[i])
		bb.Add(bb, number(0).Mul(r, r))
		for k := a.RowPtr[i]; k < a.RowPtr[i+1]; k++ {
			r.Sub(r, number(0).Mul(number(a.Val[k]), number(x[a.ColIdx[k]])))
		}
		rr.Add(rr, number(0).Mul(r, r))
	}
	q, _ := rr.Sqrt(rr.Quo(rr, bb)).Float64()
	return q
}

// neumann returns the matrix of a path graph, whose null space are the constants.
func neumann(n int) *sparse.CSR[float64] {
	rows := make([][]float64, n)
	for i := range rows {
		rows[i] = make([]float64, n)
		for _, j := range []int{i - 1, i + 1} {
			if j >= 0 && j < n {
				rows[i][j], rows[i][i] = -1, rows[i][i]+1
			}
		}
	}
	return matrixOf(rows...)
}

// The factors of a nearly singular matrix give an x so large that b is lost in the rounding errors of b - A x.
func TestSolveIsNotDeceivedByRounding(t *testing.T) {
	sys := open(t, "cpu:1")
	for _, n := range []int{10, 100, 300} {
		a, b, x := neumann(n), ones(n), make([]float64, n)
		s, err := Solve(t.Context(), sys, a, b, x, SolveOptions{})
		require.Error(t, err, n)
		require.Equal(t, Singular, s.Diagnosis.Kind)
		require.False(t, s.Converged)
		require.InDelta(t, exactResidual(a, b, x), s.Residual, 1e-6)

		_, err = Solve(t.Context(), sys, a, b, x, SolveOptions{Choice: Choice{Method: "direct"}})
		require.Error(t, err, n)
	}
}

// Without an exactly zero pivot a singular matrix is found by its residual; LSMR takes over there too.
func TestSolveGivesTheLeastSquaresSolutionOfANumericallySingularSystem(t *testing.T) {
	sys := open(t, "cpu:1")
	random := rand.New(rand.NewPCG(5, 6))
	const n = 60
	rows := make([][]float64, n)
	rows[n-1] = make([]float64, n)
	for i := range n - 1 {
		rows[i] = make([]float64, n)
		for j := range rows[i] {
			rows[i][j] = random.NormFloat64()
			rows[n-1][j] += rows[i][j]
		}
	}
	a, b, x := matrixOf(rows...), ones(n), make([]float64, n)
	s, err := Solve(t.Context(), sys, a, b, x, SolveOptions{})
	require.Error(t, err)
	require.Equal(t, Singular, s.Diagnosis.Kind)
	require.Contains(t, err.Error(), "singular to working precision: its condition is about")
	require.Equal(t, "lsmr", s.Method)
	least := float64(n-2) / n // the part of b along (1, ..., 1, -1), which A'r = 0 leaves
	require.InDelta(t, least, s.Residual, 1e-6)
}

func TestSolveAtAnyScaleSolvesOrSaysThatXLeavesTheRange(t *testing.T) {
	sys := open(t, "cpu:1")
	inside, outside := 0, 0
	for _, base := range []*sparse.CSR[float64]{
		laplacian(t, "stencil:n=4,points=5"), matrixOf([]float64{1, 2, 0}, []float64{0, 0, 5}, []float64{7, 3, 1}),
		matrixOf([]float64{3}), matrixOf([]float64{1, 2, 0}, []float64{0, 1, 5}),
	} {
		for _, i := range []int{0, 1000, -1000, -1060} {
			for _, j := range []int{0, 1000, 1023, -1000, -1060} {
				a := *base
				a.Val = scaledBy(base.Val, i)
				b, x := scaledBy(ones(a.Rows), j), make([]float64, a.Cols)
				name := fmt.Sprintf("%d x %d, 2^%d A, 2^%d b", a.Rows, a.Cols, i, j)
				s, err := Solve(t.Context(), sys, &a, b, x, SolveOptions{})
				require.NotNil(t, s, name)
				if -1000 <= j-i && j-i <= 1000 {
					inside++
					require.NoError(t, err, name)
					require.LessOrEqual(t, exactResidual(&a, b, x), 1.1e-8, name)
					continue
				}
				if err != nil {
					outside++
					require.Equal(t, Limit, s.Diagnosis.Kind, "%s: %v", name, err)
					require.NotContains(t, err.Error(), "singular", name)
					require.InDelta(t, exactResidual(&a, b, x), s.Residual, 1e-3, name)
				} else {
					require.LessOrEqual(t, exactResidual(&a, b, x), 1.1e-8, name)
				}
			}
		}
	}
	require.Greater(t, inside, 30)
	require.Greater(t, outside, 10)
}

func TestSolveKeepsSmallElementsBesideLargeOnes(t *testing.T) {
	a := matrixOf([]float64{1e300, 0}, []float64{0, 1e-300})
	b, x := []float64{1, 1e-290}, make([]float64, 2)
	_, err := Solve(t.Context(), open(t, "cpu:1"), a, b, x, SolveOptions{})
	require.NoError(t, err)
	require.LessOrEqual(t, exactResidual(a, b, x), 1.1e-8)
}

func TestSolveReplacesAnAbsurdFirstGuess(t *testing.T) {
	sys := open(t, "cpu:1")
	a := laplacian(t, "stencil:n=20,points=5")
	for _, guess := range []float64{1e10, 1e100, -1e300} {
		for _, c := range []Choice{{}, {Method: "cg"}, {Method: "lsmr"}, {Method: "gmres"}} {
			x := make([]float64, a.Cols)
			for j := range x {
				x[j] = guess
			}
			s, err := Solve(t.Context(), sys, a, ones(a.Rows), x, SolveOptions{Choice: c})
			require.NoError(t, err, "%v from %g", c, guess)
			require.LessOrEqual(t, s.Residual, DefaultTol)
		}
	}
}

func TestSolveKeepsAGoodFirstGuess(t *testing.T) {
	sys := open(t, "cpu:1")
	a := laplacian(t, "stencil:n=20,points=5")
	x := make([]float64, a.Cols)
	_, err := Solve(t.Context(), sys, a, ones(a.Rows), x, SolveOptions{})
	require.NoError(t, err)
	s, err := Solve(t.Context(), sys, a, ones(a.Rows), x, SolveOptions{})
	require.NoError(t, err)
	require.Zero(t, s.Iterations)
	s, err = Solve(t.Context(), sys, a, ones(a.Rows), x, SolveOptions{Tol: 1e-30, MaxBytes: 1, MaxIter: 1})
	require.Error(t, err)
	require.LessOrEqual(t, s.Residual, 1e-8, "no attempt found a better x")
	require.InDelta(t, exactResidual(a, ones(a.Rows), x), s.Residual, 1e-10)
}

func TestSolveOutOfTimeReturnsTheBestX(t *testing.T) {
	a := readMatrix(t, "494_bus").CSR
	b, x := ones(a.Rows), make([]float64, a.Cols)
	s, err := Solve(t.Context(), open(t, "cpu:1"), a, b, x, SolveOptions{
		Choice: Choice{Method: "lsmr"}, Tol: 1e-14, Time: time.Second, Progress: func(Step) { time.Sleep(20 * time.Millisecond) },
	})
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Equal(t, Limit, s.Diagnosis.Kind)
	require.Equal(t, "lsmr", s.Method)
	require.Positive(t, s.Iterations)
	require.Less(t, s.Residual, 1.0)
	require.InDelta(t, exactResidual(a, b, x), s.Residual, 1e-6)
}

func TestSolveNeverReturnsAnXThatIsNotFinite(t *testing.T) {
	sys := open(t, "cpu:1")
	skew := matrixOf([]float64{0, 1}, []float64{-1, 0})
	for _, c := range []Choice{{Method: "cg"}, {Method: "bicgstab"}, {Method: "gmres"}, {Method: "idr"}, {}} {
		x := make([]float64, 2)
		s, _ := Solve(t.Context(), sys, skew, []float64{1, 1}, x, SolveOptions{Choice: c})
		require.NotNil(t, s)
		require.False(t, math.IsNaN(x[0]+x[1]), c)
		require.InDelta(t, exactResidual(skew, []float64{1, 1}, x), s.Residual, 1e-9, c)
	}
}

func TestSolveSaysThatTheToleranceIsBelowRounding(t *testing.T) {
	a := laplacian(t, "stencil:n=8,points=5")
	for _, c := range []Choice{{}, {Method: "direct"}} {
		s, err := Solve(t.Context(), open(t, "cpu:1"), a, ones(a.Rows), make([]float64, a.Rows), SolveOptions{Tol: 1e-30, Choice: c})
		require.Error(t, err)
		require.Equal(t, Limit, s.Diagnosis.Kind)
		require.NotContains(t, err.Error(), "singular")
	}
}

func TestSolveDiagnosesAForcedMethod(t *testing.T) {
	sys := open(t, "cpu:1")
	tall := matrixOf([]float64{1, 1}, []float64{1, 1 + 1e-7}, []float64{2, 3})
	for _, c := range []struct {
		a    *sparse.CSR[float64]
		opt  SolveOptions
		kind DiagnosisKind
		says string
	}{
		{matrixOf([]float64{1, 2}, []float64{0, 0}), SolveOptions{Choice: Choice{Method: "direct"}}, StructurallySingular, "no columns are left for 1 of its rows: 1"},
		{matrixOf([]float64{1, 2}, []float64{0, 0}), SolveOptions{Choice: Choice{Precond: "ilut"}}, StructurallySingular, "no columns are left for 1 of its rows: 1"},
		{matrixOf([]float64{1, 2}, []float64{2, 4}), SolveOptions{Choice: Choice{Method: "direct"}}, Singular, "singular"},
		{laplacian(t, "stencil:n=8,points=5"), SolveOptions{Choice: Choice{Method: "direct"}, MaxBytes: 1}, Limit, "factors need"},
		{laplacian(t, "stencil:n=8,points=5"), SolveOptions{Choice: Choice{Method: "cg"}, MaxIter: 1}, Limit, "not converged after 1 iterations"},
		{tall, SolveOptions{MaxIter: 1}, Limit, "no attempt reached the tolerance"}, // nothing is known about it
	} {
		s, err := Solve(t.Context(), sys, c.a, ones(c.a.Rows), make([]float64, c.a.Cols), c.opt)
		require.ErrorContains(t, err, c.says)
		require.NotNil(t, s, c.says)
		require.NotNil(t, s.Diagnosis, c.says)
		require.Equal(t, c.kind, s.Diagnosis.Kind, c.says)
		require.False(t, math.IsNaN(s.Residual))
	}
	indefinite := matrixOf([]float64{1, 2}, []float64{2, 1})
	s, err := Solve(t.Context(), sys, indefinite, ones(2), make([]float64, 2), SolveOptions{Choice: Choice{Method: "direct"}})
	require.NoError(t, err, "LU factors follow Cholesky factors")
	require.Len(t, s.Attempts, 2)
}

func TestSolveRefusesChoicesThatDoNotFit(t *testing.T) {
	sys := open(t, "cpu:1")
	a := laplacian(t, "stencil:n=4,points=5")
	double := &sparse.COO[float64]{Rows: 16, Cols: 16, RowIdx: []int32{3, 3}, ColIdx: []int32{2, 2}, Val: []float64{1e308, 1e308}}
	for _, c := range []struct {
		a    sparse.Matrix[float64]
		opt  SolveOptions
		says string
	}{
		{a, SolveOptions{Choice: Choice{Method: "block-jacobi:2"}}, "method: \"block-jacobi:2\" is not known"},
		{a, SolveOptions{Choice: Choice{Order: "block-jacobi:2"}}, "order: \"block-jacobi:2\" is not known"},
		{a, SolveOptions{Choice: Choice{Precond: "jacobi", Order: "amd"}}, "order: \"amd\": jacobi has no factors to order"},
		{matrixOf(ones(16), ones(16)), SolveOptions{Choice: Choice{Order: "amd"}}, "lsmr has no factors to order"},
		{a, SolveOptions{Time: -1}, "time: -1ns"},
		{a, SolveOptions{MaxBytes: -1}, "max bytes: -1"},
		{double, SolveOptions{}, "row 3, column 2 add up to +Inf"},
	} {
		rows, _ := c.a.Dims()
		for _, scale := range []float64{0, 1} { // b = 0 does not hide the error
			_, err := Solve(t.Context(), sys, c.a, scaledBy(ones(rows), -int(2000*(1-scale))), make([]float64, 16), c.opt)
			require.True(t, sparse.IsInput(err), "%s: %v", c.says, err)
			require.ErrorContains(t, err, c.says)
		}
	}
}
