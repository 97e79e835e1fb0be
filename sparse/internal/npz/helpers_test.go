package npz

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/source"
	"github.com/msrep-go/msrep/sparse"
)

// entry is one array of an archive made for a test.
type entry struct {
	name string
	data []byte
}

// npy is an array in version 1.0 of the format. Items are written little-endian.
func npy(name, descr, shape string, items any) entry {
	return npyOrder(name, descr, shape, false, binary.LittleEndian, items)
}

func npyOrder(name, descr, shape string, fortran bool, order binary.ByteOrder, items any) entry {
	order2 := map[bool]string{false: "False", true: "True"}[fortran]
	text := fmt.Sprintf("{'descr': '%s', 'fortran_order': %s, 'shape': %s, }\n", descr, order2, shape)
	b := bytes.NewBufferString("\x93NUMPY\x01\x00")
	for _, x := range []any{uint16(len(text)), []byte(text)} {
		must(binary.Write(b, binary.LittleEndian, x))
	}
	must(binary.Write(b, order, items))
	return entry{name + ".npy", b.Bytes()}
}

// raw is an array with a header given as text and any content.
func raw(name, version, text, content string) entry {
	head := []byte("\x93NUMPY" + version)
	if version[0] == 1 {
		head = binary.LittleEndian.AppendUint16(head, uint16(len(text)))
	} else {
		head = binary.LittleEndian.AppendUint32(head, uint32(len(text)))
	}
	return entry{name + ".npy", append(append(head, text...), content...)}
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// archiveOf zips arrays. A later array replaces an earlier one of the same name; an array
// with nil data is left out.
func archiveOf(arrays ...entry) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i, a := range arrays {
		replaced := a.data == nil
		for _, later := range arrays[i+1:] {
			replaced = replaced || later.name == a.name
		}
		if replaced {
			continue
		}
		w, err := z.Create(a.name)
		must(err)
		_, err = w.Write(a.data)
		must(err)
	}
	must(z.Close())
	return b.Bytes()
}

// csr holds [1 0 4; 0 3 0; 2 0 5] as SciPy writes it.
func csr(change ...entry) []byte { return archiveOf(append(csrArrays(""), change...)...) }

func csrArrays(prefix string) []entry {
	return []entry{
		npy(prefix+"indices", "<i4", "(5,)", []int32{0, 2, 1, 0, 2}),
		npy(prefix+"indptr", "<i4", "(4,)", []int32{0, 2, 3, 5}),
		npy(prefix+"format", "|S3", "()", []byte("csr")),
		npy(prefix+"shape", "<i8", "(2,)", []int64{3, 3}),
		npy(prefix+"data", "<f8", "(5,)", []float64{1, 4, 3, 2, 5}),
	}
}

var smallDense = [][]float64{{1, 0, 4}, {0, 3, 0}, {2, 0, 5}}

func readGroup(data []byte, group string) (*sparse.CSR[float64], sparse.Source, error) {
	return Read(context.Background(), bytes.NewReader(data), int64(len(data)), "t.npz", group, sparse.Limits{})
}

func readAll(data []byte) (*sparse.CSR[float64], sparse.Source, error) { return readGroup(data, "") }

// requireCanonical checks that m is valid with columns that rise in every row.
func requireCanonical(t require.TestingT, m *sparse.CSR[float64]) {
	require.NoError(t, m.Validate())
	require.True(t, source.Rising(m.RowPtr, m.ColIdx))
}

func written(t require.TestingT, m *sparse.CSR[float64]) []byte {
	if h, ok := t.(testing.TB); ok {
		h.Helper()
	}
	var b bytes.Buffer
	require.NoError(t, Write(&b, m))
	return b.Bytes()
}
