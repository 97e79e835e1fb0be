package npz

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/sparse/internal/matrixtest"
)

// utf32 is a string as NumPy stores it, little-endian.
func utf32(s string) []int32 {
	var out []int32
	for _, r := range s {
		out = append(out, r)
	}
	return out
}

// The package sparse writes the format gcxs (0.19) or none (0.15). The arrays of csr,
// which is not symmetric, give the transposed matrix when they are read by column.
func TestTheCompressedAxisSaysWhetherRowsOrColumnsAreMeant(t *testing.T) {
	transposed := [][]float64{{1, 0, 2}, {0, 3, 0}, {4, 0, 5}}
	axis := func(a int64) entry { return npy("compressed_axes", "<i8", "(1,)", []int64{a}) }
	unnamed, gcxs := entry{"format.npy", nil}, npy("format", "<U4", "()", utf32("gcxs"))
	zero := npy("fill_value", "<f8", "()", []float64{0})
	for name, c := range map[string]struct {
		file []byte
		want [][]float64
	}{
		"rows, no format":    {csr(axis(0), unnamed, zero), smallDense},
		"columns, no format": {csr(axis(1), unnamed, zero), transposed},
		"rows, gcxs":         {csr(axis(0), gcxs, zero), smallDense},
		"columns, gcxs":      {csr(axis(1), gcxs, zero), transposed},
		"rows, csr":          {csr(axis(0)), smallDense},
		"columns, csc":       {csr(axis(1), npy("format", "|S3", "()", []byte("csc"))), transposed},
		"filled with false":  {csr(npy("fill_value", "|b1", "()", []bool{false})), smallDense},
	} {
		m, _, err := readAll(c.file)
		require.NoError(t, err, name)
		requireCanonical(t, m)
		require.Equal(t, c.want, matrixtest.Dense(m), name)
	}
}

// In an archive with several matrices the arrays of a group have its prefix.
func TestEveryGroupHasItsOwnFillValueAndAxis(t *testing.T) {
	arrays := append(csrArrays("a_"), csrArrays("b_")...)
	arrays = append(arrays, npy("a_fill_value", "<f8", "()", []float64{5}), npy("b_compressed_axes", "<i8", "(1,)", []int64{1}), entry{"b_format.npy", nil})
	_, _, err := readGroup(archiveOf(arrays...), "a")
	require.ErrorContains(t, err, "t.npz: a_fill_value.npy: is 5: ")
	m, _, err := readGroup(archiveOf(arrays...), "b")
	require.NoError(t, err)
	require.Equal(t, [][]float64{{1, 0, 2}, {0, 3, 0}, {4, 0, 5}}, matrixtest.Dense(m))
}
