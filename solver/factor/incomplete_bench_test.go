package factor_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/corpus"
	"github.com/msrep-go/msrep/sparse/matio"
)

// Time to make the factors of real matrices, and to apply them.
func BenchmarkIncomplete(b *testing.B) {
	for _, name := range []string{"Dubcova1", "cage9", "memplus", "sherman5"} {
		m, err := matio.Read(b.Context(), corpus.Shared(b, "matrices", name+".mtx.gz"))
		require.NoError(b, err)
		r, z := make([]float64, m.Rows), make([]float64, m.Rows)
		for i := range r {
			r[i] = 1
		}
		for _, kind := range []string{"ilu0", "ilut"} {
			f, err := kinds[kind](b.Context(), m.CSR)
			require.NoError(b, err)
			b.Run(name+"/"+kind+"/new", func(b *testing.B) {
				for b.Loop() {
					_, err := kinds[kind](b.Context(), m.CSR)
					require.NoError(b, err)
				}
			})
			b.Run(name+"/"+kind+"/apply", func(b *testing.B) {
				b.SetBytes(12 * f.Info().NNZ)
				for b.Loop() {
					require.NoError(b, f.Apply(r, z))
				}
			})
		}
		require.NoError(b, m.Close())
	}
}
