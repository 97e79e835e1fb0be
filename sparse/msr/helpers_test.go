package msr

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/sparse"
)

// small is a matrix with an empty row, and values that are easily damaged.
func small() *sparse.CSR[float64] {
	return &sparse.CSR[float64]{
		Rows: 4, Cols: 3,
		RowPtr: []int64{0, 2, 2, 3, 5},
		ColIdx: []int32{0, 2, 1, 0, 2},
		Val:    []float64{1, -2.5, 1e300, 0, 7},
	}
}

func encode[V sparse.Value](t testing.TB, m *sparse.CSR[V], src sparse.Source) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, Write(&b, m, src))
	return b.Bytes()
}

func save(t testing.TB, b []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "m.msr")
	require.NoError(t, os.WriteFile(path, b, 0o600))
	return path
}

// sealHeader corrects the checksum of the header.
func sealHeader(b []byte) {
	binary.LittleEndian.PutUint32(b[60:], crc32.Checksum(b[:60], castagnoli))
}

// seal corrects every checksum of a file with one chunk.
func seal(b []byte) {
	binary.LittleEndian.PutUint32(b[64:], crc32.Checksum(b[128:], castagnoli))
	binary.LittleEndian.PutUint32(b[56:], crc32.Checksum(b[64:128], castagnoli))
	sealHeader(b)
}

// anyMatrix draws a small valid matrix; columns may repeat and be out of order.
func anyMatrix(t *rapid.T) *sparse.CSR[float64] {
	m := &sparse.CSR[float64]{Rows: rapid.IntRange(0, 20).Draw(t, "rows"), Cols: rapid.IntRange(0, 20).Draw(t, "cols"), RowPtr: []int64{0}}
	for range m.Rows {
		if m.Cols > 0 {
			m.ColIdx = append(m.ColIdx, rapid.SliceOfN(rapid.Int32Range(0, int32(m.Cols-1)), 0, 8).Draw(t, "row")...)
		}
		m.RowPtr = append(m.RowPtr, int64(len(m.ColIdx)))
	}
	m.Val = rapid.SliceOfN(rapid.Float64(), len(m.ColIdx), len(m.ColIdx)).Draw(t, "val")
	return m
}

func anySource(t *rapid.T, square bool) sparse.Source {
	syms := symmetries[1:]
	if !square {
		syms = syms[:1]
	}
	return sparse.Source{
		Field:    rapid.SampledFrom(fields[1:]).Draw(t, "field"),
		Symmetry: rapid.SampledFrom(syms).Draw(t, "symmetry"),
		Stored:   rapid.Int64Range(0, 1<<62).Draw(t, "stored"),
	}
}
