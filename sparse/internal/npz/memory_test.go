package npz

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/sparse"
)

func TestMatricesThatDoNotFitIntoMemoryDuringAssemblyAreRefused(t *testing.T) {
	const n = 1_100_000
	items := fmt.Sprintf("(%d,)", n)
	head := []entry{npy("shape", "<i8", "(2,)", []int64{n, n}), npy("data", "<f8", items, make([]float64, n))}
	rows, ptr := make([]int32, n), make([]int32, n+1)
	for k := range rows {
		rows[k], ptr[k+1] = int32(k), int32(k+1)
	}
	for format, c := range map[string]struct {
		need   int64
		arrays []entry
	}{
		"bsr": {8*n + 28*n, []entry{npy("indices", "<i4", items, rows), npy("indptr", "<i4", fmt.Sprintf("(%d,)", n+1), ptr),
			npy("data", "<f8", fmt.Sprintf("(%d, 1, 1)", n), make([]float64, n))}},
		"dia": {8*n + 36*n, []entry{npy("offsets", "<i4", "(1,)", []int32{0}), npy("data", "<f8", fmt.Sprintf("(1, %d)", n), make([]float64, n))}},
		"coo": {8*n + 28*n, []entry{npy("row", "<i4", items, rows), npy("col", "<i4", items, rows)}},
		"csc": {8*n + 16*n, []entry{npy("indices", "<i4", items, rows), npy("indptr", "<i4", fmt.Sprintf("(%d,)", n+1), ptr)}},
	} {
		b := archiveOf(append(append(head[:2:2], c.arrays...), npy("format", "|S3", "()", []byte(format)))...)
		read := func(have int64) error {
			defer mem.SetAvailable(have)()
			_, _, err := Read(t.Context(), bytes.NewReader(b), int64(len(b)), "m.npz", "", sparse.Limits{})
			return err
		}
		err := read(c.need - 1)
		require.True(t, sparse.IsInput(err), "%s: %v", format, err)
		require.ErrorContains(t, err, fmt.Sprintf("m.npz: %d entries in %[1]d rows: to read them takes at least %d bytes", n, c.need))
		require.NoError(t, read(c.need), format)
	}
}
