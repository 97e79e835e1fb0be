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
			for rule, split := range rules {
				for _, np := range []int{1, 2, 3, 8, 1000} {
					parts, err := split.ptr(m.CSR.RowPtr, np)
					require.NoError(t, err)
					require.NoError(t, Verify(parts, m.CSR.RowPtr), "%s in %d parts", rule, np)
					coo, err := split.coo(idx, m.CSR.Rows, np)
					require.NoError(t, err)
					require.Equal(t, parts, coo)
				}
			}
		})
	}
}
