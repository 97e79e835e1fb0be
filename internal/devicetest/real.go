package devicetest

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/corpus"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/matio"
)

// RealMatrices runs f in parallel for the real matrices of the collection that have at
// most the given number of entries; short applies with -short. Complex matrices are
// skipped.
func RealMatrices(t *testing.T, entries, short int, f func(t *testing.T, a *sparse.CSR[float64])) {
	tested := 0
	for _, row := range corpus.Table(t, corpus.Shared(t, "expected", "products.tsv")) {
		nnz, err := strconv.Atoi(row["nnz"])
		require.NoError(t, err)
		if nnz > entries || testing.Short() && tested == short {
			continue
		}
		tested++
		t.Run(row["name"], func(t *testing.T) {
			t.Parallel()
			m, err := matio.Read(t.Context(), corpus.Shared(t, "matrices", row["name"]+".mtx.gz"))
			if sparse.IsInput(err) {
				t.Skip(err)
			}
			require.NoError(t, err)
			defer m.Close()
			f(t, m.CSR)
		})
	}
	require.True(t, tested >= 100 || testing.Short(), "%d matrices", tested)
}
