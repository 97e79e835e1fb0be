package npz

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"github.com/msrep-go/msrep/internal/given"
	"github.com/msrep-go/msrep/sparse"
)

// Write writes m as scipy.sparse.save_npz writes a csr matrix: compressed, with float64
// values, and with int32 indices if all of them and nnz fit, else int64.
// scipy.sparse.load_npz can read it. Write keeps the order of the entries of each row.
//
// Errors are those of m.Validate and of w.
func Write(w io.Writer, m *sparse.CSR[float64]) error {
	if err := given.Check("writer", w); err != nil {
		return err
	}
	if err := m.Validate(); err != nil {
		return err
	}
	z := zip.NewWriter(w)
	nnz, wide := m.NNZ(), needsWide(m)
	index := "<i4"
	if wide {
		index = "<i8"
	}
	shape := []int64{int64(m.Rows), int64(m.Cols)}
	for _, a := range []struct {
		name, dtype, shape string
		n                  int64
		item               func(b []byte, k int64) []byte
	}{
		{"indices", index, fmt.Sprintf("(%d,)", nnz), nnz, func(b []byte, k int64) []byte { return appendIndex(b, int64(m.ColIdx[k]), wide) }},
		{"indptr", index, fmt.Sprintf("(%d,)", m.Rows+1), int64(m.Rows) + 1, func(b []byte, k int64) []byte { return appendIndex(b, m.RowPtr[k], wide) }},
		{"format", "|S3", "()", 1, func(b []byte, _ int64) []byte { return append(b, "csr"...) }},
		{"shape", "<i8", "(2,)", 2, func(b []byte, k int64) []byte { return appendIndex(b, shape[k], true) }},
		{"data", "<f8", fmt.Sprintf("(%d,)", nnz), nnz, func(b []byte, k int64) []byte {
			return binary.LittleEndian.AppendUint64(b, math.Float64bits(m.Val[k]))
		}},
	} {
		to, err := z.Create(a.name + ".npy")
		if err != nil {
			return err
		}
		if err := writeArray(to, a.dtype, a.shape, a.n, a.item); err != nil {
			return err
		}
	}
	return z.Close()
}

// needsWide reports whether the row pointers do not fit into int32.
func needsWide(m *sparse.CSR[float64]) bool { return m.NNZ() > math.MaxInt32 }

func appendIndex(b []byte, v int64, wide bool) []byte {
	if wide {
		return binary.LittleEndian.AppendUint64(b, uint64(v))
	}
	return binary.LittleEndian.AppendUint32(b, uint32(v))
}

// writeArray writes n items in the .npy format, version 1.0.
func writeArray(w io.Writer, dtype, shape string, n int64, item func(b []byte, k int64) []byte) error {
	const flushAt = 1 << 16
	b := append(make([]byte, 0, flushAt+64), npyHead(dtype, shape)...)
	for k := range n {
		if b = item(b, k); len(b) >= flushAt {
			if _, err := w.Write(b); err != nil {
				return err
			}
			b = b[:0]
		}
	}
	_, err := w.Write(b)
	return err
}

// npyHead returns the header of an array, padded to align the content to 64 bytes.
func npyHead(dtype, shape string) []byte {
	const before, align = 10, 64
	text := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }", dtype, shape)
	length := (before+len(text)+1+align-1)/align*align - before
	head := append([]byte("\x93NUMPY\x01\x00"), byte(length), byte(length>>8))
	head = append(head, text...)
	head = append(head, bytes.Repeat([]byte{' '}, length-len(text)-1)...)
	return append(head, '\n')
}
