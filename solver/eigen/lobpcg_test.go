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
