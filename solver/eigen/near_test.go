package eigen

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSolveFindsTheEigenvaluesNearANumber(t *testing.T) {
	a := generated(t, "stencil:dims=2,n=20,points=5")
	sys := openOn(t, "cpu:1")
	all := denseEigenvalues(t, a, Largest)
	for _, sigma := range []float64{0, -1, 9, 4.2, all[17], 1e-3} {
		distances := make([]float64, len(all))
		for i, v := range all {
			distances[i] = -abs(v - sigma)
		}
		order := Largest.order(distances)
		for _, k := range []int{1, 6} {
			res, err := Solve(t.Context(), sys, a, Options{Count: k, Which: Near, Sigma: sigma})
			require.NoError(t, err, "near %g", sigma)
			want := make([]float64, k)
			for i := range want {
				want[i] = all[order[i]]
			}
			t.Log(sigma, k, res.Iterations, res.Timing)
			for i := range want { // two may be at the same distance
				require.InDelta(t, abs(want[i]-sigma), abs(res.Values[i]-sigma), 1e-9)
			}
			requirePairs(t, a, res.Values, res, 1e-10)
		}
	}
}

func abs(v float64) float64 { return max(v, -v) }
