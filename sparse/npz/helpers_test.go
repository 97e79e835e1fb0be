package npz

import (
	"archive/zip"
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

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

// raw is an array with a head given as text and any content.
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

// archiveOf zips arrays; a later one replaces an earlier one of the same name.
// One with nil data is left out.
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

// dense is m as rows of values.
func dense(m *sparse.CSR[float64]) [][]float64 {
	d := make([][]float64, m.Rows)
	for i := range d {
		d[i] = make([]float64, m.Cols)
		for k := m.RowPtr[i]; k < m.RowPtr[i+1]; k++ {
			d[i][m.ColIdx[k]] += m.Val[k]
		}
	}
	return d
}

// requireCanonical checks that m is valid with columns that rise in every row.
func requireCanonical(t require.TestingT, m *sparse.CSR[float64]) {
	require.NoError(t, m.Validate())
	require.True(t, canonical(m.RowPtr, m.ColIdx))
}

func written(t require.TestingT, m *sparse.CSR[float64]) []byte {
	if h, ok := t.(testing.TB); ok {
		h.Helper()
	}
	var b bytes.Buffer
	require.NoError(t, Write(&b, m))
	return b.Bytes()
}

// readMatrixMarket reads a well-formed gzipped coordinate file, in the plainest
// way.
func readMatrixMarket(t testing.TB, path string) *sparse.CSR[float64] {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	in := bufio.NewScanner(z)
	in.Scan()
	banner := strings.Fields(in.Text())
	for in.Scan() && strings.HasPrefix(in.Text(), "%") {
	}
	var rows, cols, n int
	_, err = fmt.Sscan(in.Text(), &rows, &cols, &n)
	require.NoError(t, err)
	var b sparse.Triples[float64]
	for range n {
		require.True(t, in.Scan())
		w := append(strings.Fields(in.Text()), "1")
		i, err1 := strconv.ParseInt(w[0], 10, 32)
		j, err2 := strconv.ParseInt(w[1], 10, 32)
		v, err3 := strconv.ParseFloat(w[2], 64)
		require.NoError(t, errors.Join(err1, err2, err3))
		b.Row, b.Col, b.Val = append(b.Row, int32(i-1)), append(b.Col, int32(j-1)), append(b.Val, v)
	}
	return sparse.Assemble(rows, cols, sparse.Symmetry(banner[4]), []sparse.Triples[float64]{b})
}
