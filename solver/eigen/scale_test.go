package eigen

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/sparse"
)

// Results of a matrix with elements near the limits of float64 are those of a matrix with elements of about 1, scaled.
func TestMatricesWithTinyAndHugeElements(t *testing.T) {
	square := symmetricOf(t, 60, func(i, j int) float64 { return max(0, 1-0.3*float64(j-i)) * (1 + 0.01*float64(i)) })
	tall := &sparse.CSR[float64]{Rows: 60, Cols: 50, RowPtr: make([]int64, 1, 61)}
	for i := range tall.Rows {
		for j := max(0, i-3); j < min(tall.Cols, i+3); j++ {
			tall.ColIdx, tall.Val = append(tall.ColIdx, int32(j)), append(tall.Val, 1/float64(1+i+j%3))
		}
		tall.RowPtr = append(tall.RowPtr, int64(len(tall.Val)))
	}
	sys := openOn(t, "cpu:1")
	scaled := func(a *sparse.CSR[float64], exp int) *sparse.CSR[float64] {
		m := *a
		m.Val = make([]float64, len(a.Val))
		for i, v := range a.Val {
			m.Val[i] = math.Ldexp(v, exp)
		}
		return &m
	}
	for _, exp := range []int{-1010, -800, -500, -250, -100, 0, 100, 300, 500, 800, 1010} {
		for _, w := range []Which{Largest, Smallest, Near} {
			want, err := Solve(t.Context(), sys, square, Options{Count: 3, Which: w, Sigma: 0.7})
			require.NoError(t, err)
			res, err := Solve(t.Context(), sys, scaled(square, exp), Options{Count: 3, Which: w, Sigma: math.Ldexp(0.7, exp)})
			require.NoError(t, err, "2^%d, %s", exp, w)
			require.True(t, res.Converged)
			for i, v := range res.Values {
				require.InDelta(t, want.Values[i], math.Ldexp(v, -exp), 1e-9*want.Norm, "2^%d, %s", exp, w)
				require.LessOrEqual(t, math.Ldexp(res.Residuals[i], -exp), 1e-9*want.Norm)
			}
		}
		for _, w := range []Which{Largest, Smallest} {
			want, err := SolveSingular(t.Context(), sys, tall, Options{Count: 3, Which: w})
			require.NoError(t, err)
			res, err := SolveSingular(t.Context(), sys, scaled(tall, exp), Options{Count: 3, Which: w})
			require.NoError(t, err, "2^%d, %s", exp, w)
			require.InEpsilon(t, want.Norm, math.Ldexp(res.Norm, -exp), 1e-6)
			for i, v := range res.Values {
				require.InDelta(t, want.Values[i], math.Ldexp(v, -exp), 1e-9*want.Norm, "2^%d, %s", exp, w)
			}
		}
		want, err := Singular(t.Context(), planOf(t, "cpu:1", tall), Options{Count: 3})
		require.NoError(t, err)
		res, err := Singular(t.Context(), planOf(t, "cpu:1", scaled(tall, exp)), Options{Count: 3})
		require.NoError(t, err, "an operator with elements of 2^%d", exp)
		for i, v := range res.Values {
			require.InDelta(t, want.Values[i], math.Ldexp(v, -exp), 1e-9*want.Norm, "2^%d", exp)
		}
	}
	_, err := Solve(t.Context(), sys, scaled(square, 1023), Options{Count: 3})
	require.ErrorContains(t, err, "matrix: its norm exceeds the largest float64")
	_, err = SolveSingular(t.Context(), sys, scaled(square, 1023), Options{Count: 3})
	require.ErrorContains(t, err, "matrix: its norm exceeds the largest float64")
	_, err = Solve(t.Context(), sys, scaled(square, -1000), Options{Count: 3, Which: Near, Sigma: 1e300})
	require.ErrorContains(t, err, "sigma: 1e+300: it is too large beside")
}
