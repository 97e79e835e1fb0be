package eigen

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/solver"
	"github.com/msrep-go/msrep/solver/factor"
)

func TestLOBPCGFindsTheEigenvaluesOfALaplacian(t *testing.T) {
	a := generated(t, "stencil:dims=2,n=20,points=5")
	ic, err := factor.NewIC0(t.Context(), a, factor.IC0Options{})
	require.NoError(t, err)
	for _, w := range []Which{Largest, Smallest} {
		want := denseEigenvalues(t, a, w)
		for name, m := range map[string]solver.Preconditioner{"none": nil, "ic": ic} {
			if w == Largest && m != nil {
				continue
			}
			for _, k := range []int{1, 6, 20, 150} {
				res, err := LOBPCG(t.Context(), planOf(t, "cpu:1", a), Options{Count: k, Which: w, Precond: m})
				require.NoError(t, err, "%s, %s, %d", w, name, k)
				t.Log(w, name, k, res.Iterations, res.Products, res.Timing)
				requirePairs(t, a, want[:k], res, 1e-10)
			}
		}
	}
}

// A few eigenvalues far from all others do not slow the search at the other end of the spectrum, without a preconditioner.
func TestLOBPCGIsNotSlowedByFarEigenvalues(t *testing.T) {
	for _, far := range []int{1, 2} {
		for _, largest := range []float64{1e3, 1e5, 1e7} {
			a := symmetricOf(t, 400, func(i, j int) float64 {
				switch {
				case i != j:
					return 0
				case i >= 200 && i < 200+far:
					return largest
				}
				return 1 + float64(i)/40
			})
			res, err := LOBPCG(t.Context(), planOf(t, "cpu:1", a), Options{Count: 4, Which: Smallest})
			require.NoError(t, err)
			require.Less(t, res.Iterations, 200, "%d of %g", far, largest)
			for i, v := range res.Values {
				require.InDelta(t, 1+float64(i)/40, v, 1e-8*largest)
			}
			for i := range a.Val {
				a.Val[i] = -a.Val[i]
			}
			res, err = LOBPCG(t.Context(), planOf(t, "cpu:1", a), Options{Count: 4, Which: Largest})
			require.NoError(t, err)
			require.Less(t, res.Iterations, 200, "%d of %g", far, -largest)
		}
	}
}
