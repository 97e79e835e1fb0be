package eigen

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/gen"
)

// openOn opens devices for a test.
func openOn(t testing.TB, devices string) *msrep.System {
	t.Helper()
	sys, err := msrep.Open(msrep.Config{Devices: devices})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, sys.Close()) })
	return sys
}

// planOf returns a plan of a on devices.
func planOf(t testing.TB, devices string, a *sparse.CSR[float64]) *msrep.Plan[float64] {
	t.Helper()
	p, err := msrep.NewPlan(t.Context(), openOn(t, devices), a, msrep.PlanOptions{})
	require.NoError(t, err)
	return p
}

// generated returns a generated matrix.
func generated(t testing.TB, spec string) *sparse.CSR[float64] {
	t.Helper()
	m, _, err := gen.Generate(spec)
	require.NoError(t, err)
	return m
}

// denseEigenvalues returns all eigenvalues in the order of w.
func denseEigenvalues(t testing.TB, a *sparse.CSR[float64], w Which) []float64 {
	t.Helper()
	d := mat.NewSymDense(a.Rows, nil)
	for i := range a.Rows {
		for k := a.RowPtr[i]; k < a.RowPtr[i+1]; k++ {
			if j := int(a.ColIdx[k]); j >= i {
				d.SetSym(i, j, d.At(i, j)+a.Val[k])
			}
		}
	}
	var e mat.EigenSym
	require.True(t, e.Factorize(d, false))
	values := e.Values(nil)
	sorted := make([]float64, len(values))
	for i, k := range w.order(values) {
		sorted[i] = values[k]
	}
	return sorted
}

// requirePairs checks a result: the values, and vectors and residuals computed here.
func requirePairs(t testing.TB, a *sparse.CSR[float64], want []float64, res *Result, tol float64) {
	t.Helper()
	require.True(t, res.Converged)
	require.Len(t, res.Values, len(want))
	for i, v := range res.Vectors {
		require.InDelta(t, want[i], res.Values[i], tol*res.Norm+1e-300, "value %d of %v, want %v", i, res.Values, want)
		sum := 0.0
		for r := range a.Rows {
			e := -res.Values[i] * v[r]
			for k := a.RowPtr[r]; k < a.RowPtr[r+1]; k++ {
				e += a.Val[k] * v[a.ColIdx[k]]
			}
			sum += e * e
		}
		require.LessOrEqual(t, math.Sqrt(sum), tol*res.Norm+1e-300, "residual of value %d", i)
		require.InDelta(t, math.Sqrt(sum), res.Residuals[i], 1e-13*res.Norm+1e-300)
		for j, w := range res.Vectors[:i+1] {
			dot := 0.0
			for r := range v {
				dot += v[r] * w[r]
			}
			if i == j {
				dot--
			}
			require.InDelta(t, 0, dot, 1e-9, "vectors %d and %d", i, j)
		}
	}
}

func TestLanczosFindsTheEigenvaluesOfALaplacian(t *testing.T) {
	a := generated(t, "stencil:dims=2,n=20,points=5")
	for _, w := range []Which{Largest, Smallest, Magnitude} {
		want := denseEigenvalues(t, a, w)
		for _, k := range []int{1, 6, 40} {
			res, err := Symmetric(t.Context(), planOf(t, "cpu:1", a), Options{Count: k, Which: w})
			require.NoError(t, err)
			t.Log(res.Iterations, res.Restarts, res.Timing, res.Values)
			requirePairs(t, a, want[:k], res, 1e-10)
		}
	}
}
