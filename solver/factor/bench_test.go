package factor_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/corpus"
	"github.com/msrep-go/msrep/solver/factor"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/gen"
	"github.com/msrep-go/msrep/sparse/matio"
)

// systemOf returns a matrix of the collection, or a generated one if name has a colon.
func systemOf(b testing.TB, name string) *sparse.CSR[float64] {
	if strings.Contains(name, ":") {
		a, _, err := gen.Generate(name)
		require.NoError(b, err)
		return a
	}
	m, err := matio.Read(b.Context(), corpus.Shared(b, "matrices", name+".mtx.gz"))
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, m.Close()) })
	return m.CSR
}

// The time to a solution, with complete factors.
func BenchmarkComplete(b *testing.B) {
	for _, name := range []string{"ani4", "add32", "sherman5", "bayer10", "mhd3200b", "bcsstm25", "teko-lsc_Qu_2", "Dubcova1", "stencil:n=200", "stencil:dims=3,n=25"} {
		a := systemOf(b, name)
		x := make([]float64, a.Rows)
		for kind, f := range map[string]func() (factor.Preconditioner, error){
			"auto": func() (factor.Preconditioner, error) { return factor.NewLU(b.Context(), a, factor.LUOptions{}) },
			"multifrontal": func() (factor.Preconditioner, error) {
				return factor.NewLU(b.Context(), a, factor.LUOptions{Kind: factor.Multifrontal})
			},
			"left-looking": func() (factor.Preconditioner, error) {
				return factor.NewLU(b.Context(), a, factor.LUOptions{Kind: factor.LeftLooking})
			},
			"cholesky": func() (factor.Preconditioner, error) {
				return factor.NewCholesky(b.Context(), a, factor.CholeskyOptions{})
			},
		} {
			b.Run(name+"/"+kind, func(b *testing.B) {
				for b.Loop() {
					m, err := f()
					if err != nil {
						b.Skip(err)
					}
					require.NoError(b, m.Apply(ones(a.Rows), x))
				}
			})
		}
	}
}
