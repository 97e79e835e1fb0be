package partition

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/corpus"
	"github.com/msrep-go/msrep/sparse/matio"
)

func TestRealMatricesSplitByEveryRule(t *testing.T) {
	for _, name := range []string{"494_bus", "Harvard500", "3elt", "BOYD1-A", "80bau3b"} {
		t.Run(name, func(t *testing.T) {
			m, err := matio.Read(context.Background(), corpus.Shared(t, "matrices", name+".mtx.gz"))
			require.NoError(t, err)
			idx := expand(m.CSR.RowPtr)
			for _, rule := range rules {
				for _, np := range []int{1, 2, 3, 8, 1000} {
					parts, _, err := Split(m.CSR.RowPtr, np, rule)
					require.NoError(t, err)
					require.NoError(t, Verify(parts, m.CSR.RowPtr), "%s in %d parts", rule, np)
					coo, _, err := SplitCOO(idx, m.CSR.Rows, np, rule)
					require.NoError(t, err)
					require.Equal(t, parts, coo)
				}
			}
		})
	}
}
