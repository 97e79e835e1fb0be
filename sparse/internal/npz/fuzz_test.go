package npz

import (
	"bytes"
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/sparse"
)

// FuzzRead: for any bytes and group, Read returns a valid matrix, which Write and Read
// preserve, or an InputError.
func FuzzRead(f *testing.F) {
	f.Add(csr(), "")
	f.Add(csr(npy("format", "|S3", "()", []byte("csc"))), "")
	f.Add(csr(npy("format", "|S3", "()", []byte("bsr")), npy("data", "<f8", "(5, 1, 1)", []float64{1, 2, 3, 4, 5})), "")
	f.Add(archiveOf(npy("shape", "<i8", "(2,)", []int64{3, 3}), npy("data", "|b1", "(2,)", []uint8{1, 1}),
		npy("coords", "<i4", "(2, 2)", []int32{0, 1, 2, 0})), "")
	f.Add(dia(), "")
	f.Add(archiveOf(append(csrArrays("adj_"), csrArrays("attr.")...)...), "adj")
	f.Fuzz(func(t *testing.T, file []byte, group string) {
		check(t, file, group)
	})
}

// FuzzReadArrays does the same for complete archives of arbitrary arrays, which random
// bytes seldom are.
func FuzzReadArrays(f *testing.F) {
	a := csrArrays("")
	f.Add(a[0].data, a[1].data, a[2].data, a[3].data, a[4].data)
	f.Add(a[0].data, a[1].data, npy("format", "|S3", "()", []byte("bsr")).data, a[3].data, npy("data", ">i2", "(5, 1, 1)", make([]int16, 5)).data)
	f.Add(a[0].data, a[0].data, npy("format", "<U3", "()", []int32{'c', 'o', 'o'}).data, a[3].data, npy("data", "|b1", "(5,)", make([]uint8, 5)).data)
	f.Add(a[0].data, a[1].data, npy("format", "|S3", "()", []byte("dia")).data, a[3].data, npy("data", "<i4", "(5, 3)", make([]int32, 15)).data)
	f.Fuzz(func(t *testing.T, indices, pointers, format, shape, data []byte) {
		check(t, archiveOf(entry{"indices.npy", indices}, entry{"row.npy", indices}, entry{"col.npy", pointers}, entry{"indptr.npy", pointers}, entry{"offsets.npy", indices},
			entry{"format.npy", format}, entry{"shape.npy", shape}, entry{"data.npy", data}), "")
	})
}

func check(t *testing.T, file []byte, group string) {
	_, err := Groups(bytes.NewReader(file), int64(len(file)))
	require.True(t, err == nil || sparse.IsInput(err), "%v", err)
	lim := sparse.Limits{EmptyLines: 1 << 12}
	m, _, err := Read(context.Background(), bytes.NewReader(file), int64(len(file)), "fuzz", group, lim)
	if err != nil {
		require.True(t, sparse.IsInput(err), "%v", err)
		return
	}
	requireCanonical(t, m)
	var b bytes.Buffer
	require.NoError(t, Write(&b, m))
	again, _, err := Read(context.Background(), bytes.NewReader(b.Bytes()), int64(b.Len()), "written", "", sparse.Limits{EmptyLines: -1})
	require.NoError(t, err)
	require.Equal(t, m.RowPtr, again.RowPtr)
	require.Equal(t, m.ColIdx, again.ColIdx)
	requireSameBits(t, m.Val, again.Val)
}
