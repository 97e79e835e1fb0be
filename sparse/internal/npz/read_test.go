package npz

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/internal/matrixtest"
)

func TestArraysInEveryNotationGiveTheSameMatrix(t *testing.T) {
	big := binary.BigEndian
	coo := []entry{
		npy("format", "|S3", "()", []byte("coo")),
		npy("shape", "<i8", "(2,)", []int64{3, 3}),
		npy("data", "<f8", "(5,)", []float64{5, 4, 3, 2, 1}),
	}
	rowCol := []entry{
		npy("row", "<i4", "(5,)", []int32{2, 0, 1, 2, 0}),
		npy("col", "<i4", "(5,)", []int32{2, 2, 1, 0, 0}),
	}
	head := func(text string) string { return text + "\n" }
	data := func(version, text string) entry {
		var b bytes.Buffer
		must(binary.Write(&b, binary.LittleEndian, []float64{1, 4, 3, 2, 5}))
		return raw("data", version, head(text), b.String())
	}
	for name, file := range map[string][]byte{
		"csr":              csr(),
		"version 2":        csr(data("\x02\x00", "{'descr': '<f8', 'fortran_order': False, 'shape': (5,), }   ")),
		"version 3":        csr(data("\x03\x00", "{'descr': '<f8', 'fortran_order': False, 'shape': (5,), }")),
		"keys reordered":   csr(data("\x01\x00", `{"shape":(5,),"fortran_order":True,"descr":"<f8"}`)),
		"Python 2 sizes":   csr(data("\x01\x00", "{'descr': '<f8', 'fortran_order': False, 'shape': (5L,), }")),
		"float32":          csr(npy("data", "<f4", "(5,)", []float32{1, 4, 3, 2, 5})),
		"big-endian":       csr(npyOrder("data", ">f8", "(5,)", false, big, []float64{1, 4, 3, 2, 5}), npyOrder("indices", ">i4", "(5,)", false, big, []int32{0, 2, 1, 0, 2})),
		"big-endian f4":    csr(npyOrder("data", ">f4", "(5,)", false, big, []float32{1, 4, 3, 2, 5}), npyOrder("indptr", ">i8", "(4,)", false, big, []int64{0, 2, 3, 5})),
		"wide indices":     csr(npy("indptr", "<i8", "(4,)", []int64{0, 2, 3, 5}), npy("indices", "<i8", "(5,)", []int64{0, 2, 1, 0, 2})),
		"unicode format":   csr(npy("format", "<U3", "()", []int32{'c', 's', 'r'})),
		"padded format":    csr(npy("format", "|S5", "(1,)", []byte("csr\x00\x00"))),
		"other files":      csr(entry{"readme.txt", []byte("hello")}, npy("_is_array", "|b1", "()", true)),
		"no format array":  csr(entry{"format.npy", nil}),
		"unsorted columns": csr(npy("indices", "<i4", "(5,)", []int32{2, 0, 1, 2, 0}), npy("data", "<f8", "(5,)", []float64{4, 1, 3, 5, 2})),
		"room to spare":    csr(npy("indices", "<i4", "(7,)", []int32{0, 2, 1, 0, 2, 1, 1}), npy("data", "<f8", "(7,)", []float64{1, 4, 3, 2, 5, 9, 9})),
		"csc": csr(npy("format", "|S3", "()", []byte("csc")), npy("indptr", "<i4", "(4,)", []int32{0, 2, 3, 5}),
			npy("indices", "<i4", "(5,)", []int32{0, 2, 1, 0, 2}), npy("data", "<f8", "(5,)", []float64{1, 2, 3, 4, 5})),
		"coo":             archiveOf(append(coo, rowCol...)...),
		"coo with coords": archiveOf(append(coo, npy("coords", "<i8", "(2, 5)", []int64{2, 0, 1, 2, 0, 2, 2, 1, 0, 0}))...),
		"coo with Fortran coords": archiveOf(append(coo, npyOrder("coords", "<i4", "(2, 5)", true, binary.LittleEndian,
			[]int32{2, 2, 0, 2, 1, 1, 2, 0, 0, 0}))...),
		"coo without format": archiveOf(append(append(coo, rowCol...), entry{"format.npy", nil})...),
	} {
		t.Run(name, func(t *testing.T) {
			m, src, err := readAll(file)
			require.NoError(t, err)
			requireCanonical(t, m)
			require.Equal(t, smallDense, matrixtest.Dense(m))
			require.EqualValues(t, 5, m.NNZ())
			require.Equal(t, sparse.Source{Field: sparse.Real, Symmetry: sparse.General, Stored: 5}, src)
		})
	}
}

func TestEveryTypeOfValueIsRead(t *testing.T) {
	for descr, c := range map[string]struct {
		items any
		want  []float64
		field sparse.Field
	}{
		"|i1": {[]int8{-128, 127, 3, 2, 1}, []float64{-128, 127, 3, 2, 1}, sparse.Integer},
		"|u1": {[]uint8{255, 0, 3, 2, 1}, []float64{255, 0, 3, 2, 1}, sparse.Integer},
		"<i2": {[]int16{-32768, 0, 3, 2, 1}, []float64{-32768, 0, 3, 2, 1}, sparse.Integer},
		"<u2": {[]uint16{65535, 0, 3, 2, 1}, []float64{65535, 0, 3, 2, 1}, sparse.Integer},
		"<i4": {[]int32{-1 << 31, 0, 3, 2, 1}, []float64{-1 << 31, 0, 3, 2, 1}, sparse.Integer},
		"<u4": {[]uint32{1<<32 - 1, 0, 3, 2, 1}, []float64{1<<32 - 1, 0, 3, 2, 1}, sparse.Integer},
		"<i8": {[]int64{-1 << 63, 0, 3, 2, 1}, []float64{-1 << 63, 0, 3, 2, 1}, sparse.Integer},
		"<u8": {[]uint64{1<<64 - 1, 0, 3, 2, 1}, []float64{1 << 64, 0, 3, 2, 1}, sparse.Integer},
		"<f4": {[]float32{0.5, 0, 3, 2, 1}, []float64{0.5, 0, 3, 2, 1}, sparse.Real},
		"<f8": {[]float64{0.1, 0, 3, 2, 1}, []float64{0.1, 0, 3, 2, 1}, sparse.Real},
		"|b1": {[]uint8{1, 0, 1, 1, 1}, []float64{1, 0, 1, 1, 1}, sparse.Integer},
		"<b1": {[]uint8{1, 1, 1, 2, 1}, []float64{1, 1, 1, 1, 1}, sparse.Pattern},
	} {
		m, src, err := readAll(csr(npy("data", descr, "(5,)", c.items)))
		require.NoError(t, err, descr)
		require.Equal(t, c.want, m.Val, descr)
		require.Equal(t, c.field, src.Field, descr)
	}
}

func TestEveryTypeOfIndexIsRead(t *testing.T) {
	for descr, items := range map[string]any{
		"|i1": []int8{0, 2, 1, 0, 2}, "|u1": []uint8{0, 2, 1, 0, 2}, "<i2": []int16{0, 2, 1, 0, 2}, "<u2": []uint16{0, 2, 1, 0, 2},
		"<i4": []int32{0, 2, 1, 0, 2}, "<u4": []uint32{0, 2, 1, 0, 2}, "<i8": []int64{0, 2, 1, 0, 2}, "<u8": []uint64{0, 2, 1, 0, 2},
	} {
		m, _, err := readAll(csr(npy("indices", descr, "(5,)", items)))
		require.NoError(t, err, descr)
		require.Equal(t, smallDense, matrixtest.Dense(m), descr)
	}
}

func TestEntriesAtTheSamePositionAddUp(t *testing.T) {
	m, src, err := readAll(csr(npy("indices", "<i4", "(5,)", []int32{1, 1, 0, 2, 2})))
	require.NoError(t, err)
	requireCanonical(t, m)
	require.Equal(t, [][]float64{{0, 5, 0}, {3, 0, 0}, {0, 0, 7}}, matrixtest.Dense(m))
	require.EqualValues(t, 5, src.Stored)
	// true and true is true.
	m, src, err = readAll(csr(npy("indices", "<i4", "(5,)", []int32{1, 1, 0, 2, 2}), npy("data", "|b1", "(5,)", []uint8{1, 1, 1, 1, 1})))
	require.NoError(t, err)
	require.Equal(t, [][]float64{{0, 1, 0}, {1, 0, 0}, {0, 0, 1}}, matrixtest.Dense(m))
	require.Equal(t, sparse.Pattern, src.Field)
}

func TestBlocksBecomeTheirEntries(t *testing.T) {
	arrays := func(change ...entry) []byte {
		return archiveOf(append([]entry{
			npy("format", "|S3", "()", []byte("bsr")),
			npy("shape", "<i8", "(2,)", []int64{4, 6}),
			npy("indptr", "<i4", "(3,)", []int32{0, 2, 3}),
			npy("indices", "<i4", "(3,)", []int32{1, 0, 1}),
			npy("data", "<f8", "(3, 2, 3)", []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 0, 16, 17, 18}),
		}, change...)...)
	}
	want := [][]float64{{7, 8, 9, 1, 2, 3}, {10, 11, 12, 4, 5, 6}, {0, 0, 0, 13, 14, 0}, {0, 0, 0, 16, 17, 18}}
	m, src, err := readAll(arrays())
	require.NoError(t, err)
	requireCanonical(t, m)
	require.Equal(t, want, matrixtest.Dense(m))
	require.EqualValues(t, 18, m.NNZ())
	require.EqualValues(t, 18, src.Stored)
	m, _, err = readAll(arrays(npyOrder("data", "<f8", "(3, 2, 3)", true, binary.LittleEndian,
		[]float64{1, 7, 13, 4, 10, 16, 2, 8, 14, 5, 11, 17, 3, 9, 0, 6, 12, 18})))
	require.NoError(t, err)
	require.Equal(t, want, matrixtest.Dense(m))
}

// dia holds [1 7 0; 0 2 8; 5 0 3; 0 6 0] as SciPy writes it, with NaN where Read must not
// read.
func dia(change ...entry) []byte {
	nan := math.NaN()
	return archiveOf(append([]entry{
		npy("format", "|S3", "()", []byte("dia")),
		npy("shape", "<i8", "(2,)", []int64{4, 3}),
		npy("offsets", "<i4", "(3,)", []int32{0, -2, 1}),
		npy("data", "<f8", "(3, 4)", []float64{1, 2, 3, nan, 5, 6, nan, nan, nan, 7, 8, nan}),
	}, change...)...)
}

func TestDiagonalsBecomeTheirEntries(t *testing.T) {
	nan := math.NaN()
	want := [][]float64{{1, 7, 0}, {0, 2, 8}, {5, 0, 3}, {0, 6, 0}}
	for name, file := range map[string][]byte{
		"as SciPy writes it": dia(),
		"by columns": dia(npyOrder("data", "<f8", "(3, 4)", true, binary.LittleEndian,
			[]float64{1, 5, nan, 2, 6, 7, 3, nan, 8, nan, nan, nan})),
		"without a format": dia(entry{"format.npy", nil}),
		"with diagonals outside": dia(npy("offsets", "<i8", "(5,)", []int64{0, -2, 1, math.MaxInt64, math.MinInt64}),
			npy("data", "<f8", "(5, 3)", []float64{1, 2, 3, 5, 6, nan, 0, 7, 8, nan, nan, nan, nan, nan, nan})),
	} {
		m, src, err := readAll(file)
		require.NoError(t, err, name)
		requireCanonical(t, m)
		require.Equal(t, want, matrixtest.Dense(m), name)
		require.EqualValues(t, 7, m.NNZ(), name)
		require.Equal(t, sparse.Source{Field: sparse.Real, Symmetry: sparse.General, Stored: 7}, src, name)
	}
	// Fewer values than columns, and zeros, which are not entries in SciPy either.
	m, src, err := readAll(dia(npy("data", "|b1", "(3, 1)", []uint8{1, 0, 1})))
	require.NoError(t, err)
	require.Equal(t, [][]float64{{1, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}}, matrixtest.Dense(m))
	require.Equal(t, sparse.Source{Field: sparse.Pattern, Symmetry: sparse.General, Stored: 1}, src)
	m, _, err = readAll(dia(npy("offsets", "<i4", "(0,)", []int32{}), npy("data", "<f8", "(0, 0)", []float64{})))
	require.NoError(t, err)
	require.Zero(t, m.NNZ())
}

func TestEmptyMatricesKeepTheirShape(t *testing.T) {
	for _, size := range [][]int64{{0, 0}, {0, 5}, {5, 0}, {3, 7}} {
		m, _, err := readAll(archiveOf(
			npy("indices", "<i4", "(0,)", []int32{}), npy("data", "<f8", "(0,)", []float64{}),
			npy("indptr", "<i4", fmt.Sprintf("(%d,)", size[0]+1), make([]int32, size[0]+1)),
			npy("shape", "<i8", "(2,)", size), npy("format", "|S3", "()", []byte("csr"))))
		require.NoError(t, err)
		require.NoError(t, m.Validate())
		require.Equal(t, size, []int64{int64(m.Rows), int64(m.Cols)})
	}
}

func TestAGroupIsChosenByName(t *testing.T) {
	second := []entry{
		npy("attr.row", "<i8", "(1,)", []int64{1}), npy("attr.col", "<i8", "(1,)", []int64{0}),
		npy("attr.data", "<i8", "(1,)", []int64{7}), npy("attr.shape", "<i8", "(2,)", []int64{2, 1}),
		npy("labels", "<i8", "(1,)", []int64{1}), npy("node_row", "<i8", "(1,)", []int64{1}),
	}
	both := archiveOf(append(csrArrays("adj_"), second...)...)
	groups, err := Groups(bytes.NewReader(both), int64(len(both)))
	require.NoError(t, err)
	require.Equal(t, []string{"adj", "attr"}, groups)

	m, _, err := readGroup(both, "adj")
	require.NoError(t, err)
	require.Equal(t, smallDense, matrixtest.Dense(m))
	m, _, err = readGroup(both, "attr")
	require.NoError(t, err)
	require.Equal(t, [][]float64{{0}, {7}}, matrixtest.Dense(m))

	_, _, err = readGroup(both, "")
	require.EqualError(t, err, "t.npz: holds 2 sparse matrices, adj, attr: choose one by its name after the file name, as in FILE.npz#adj")
	_, _, err = readGroup(both, "labels")
	require.EqualError(t, err, `t.npz: holds no sparse matrix "labels": it holds adj, attr`)

	// One group needs no name, and the one without a prefix comes first.
	m, _, err = readGroup(archiveOf(csrArrays("adj_")...), "")
	require.NoError(t, err)
	require.Equal(t, smallDense, matrixtest.Dense(m))
	m, _, err = readGroup(archiveOf(append(csrArrays("adj_"), csrArrays("adj.")...)...), "")
	require.NoError(t, err, "one name, though written in two ways")
	require.Equal(t, smallDense, matrixtest.Dense(m))
	m, _, err = readGroup(archiveOf(append(csrArrays(""), second...)...), "")
	require.NoError(t, err)
	require.Equal(t, smallDense, matrixtest.Dense(m))
}

func TestACancelledReadGivesTheErrorOfTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	file := csr()
	_, _, err := Read(ctx, bytes.NewReader(file), int64(len(file)), "t.npz", "", sparse.Limits{})
	require.ErrorIs(t, err, context.Canceled)
	require.False(t, sparse.IsInput(err))
}

func TestAnErrorOfTheReaderIsPassedOn(t *testing.T) {
	file := csr()
	for _, until := range []int64{0, 100, 700} {
		r := &failing{bytes.NewReader(file), until}
		_, _, err := Read(context.Background(), r, int64(len(file)), "t.npz", "", sparse.Limits{})
		require.ErrorIs(t, err, errDisk)
		require.ErrorContains(t, err, "t.npz: ")
	}
}

var errDisk = errors.New("disk on fire")

// failing fails on reads that begin below until.
type failing struct {
	*bytes.Reader
	until int64
}

func (f *failing) ReadAt(p []byte, off int64) (int, error) {
	if off <= f.until {
		return 0, errDisk
	}
	return f.Reader.ReadAt(p, off)
}

// gcxs holds [0 5 0; 1 0 2; 0 0 3] as the package sparse writes it, compressed along an axis.
func gcxs(axis int64, fill entry) []byte {
	arrays := []entry{
		npy("data", "<f8", "(4,)", []float64{5, 1, 2, 3}), npy("shape", "<i8", "(2,)", []int64{3, 3}), fill,
		npy("indices", "<i8", "(4,)", []int64{1, 0, 2, 2}), npy("indptr", "<i8", "(4,)", []int64{0, 1, 3, 4}),
		npy("compressed_axes", "<i8", "(1,)", []int64{axis}),
	}
	if axis == 1 {
		arrays = append(arrays, npy("data", "<f8", "(4,)", []float64{1, 5, 2, 3}),
			npy("indices", "<i8", "(4,)", []int64{1, 0, 1, 2}), npy("indptr", "<i8", "(4,)", []int64{0, 1, 2, 4}))
	}
	return archiveOf(arrays...)
}

func TestArraysOfThePackageSparseAreRead(t *testing.T) {
	for _, fill := range []entry{npy("fill_value", "<f8", "()", 0.0), npy("fill_value", "<i8", "()", int64(0)), npy("fill_value", "|b1", "()", false), {}} {
		for axis := range int64(2) {
			m, _, err := readAll(gcxs(axis, fill))
			require.NoError(t, err)
			requireCanonical(t, m)
			require.Equal(t, "0,1=5 1,0=1 1,2=2 2,2=3", matrixtest.Entries(m), "axis %d", axis)
		}
	}
	for want, data := range map[string][]byte{
		"fill_value.npy: is 5: entries that are not stored must be 0":        gcxs(0, npy("fill_value", "<f8", "()", 5.0)),
		"fill_value.npy: is NaN: entries that are not stored must be 0":      gcxs(0, npy("fill_value", "<f8", "()", math.NaN())),
		"fill_value.npy: is 1: entries that are not stored must be 0":        csr(npy("fill_value", "|b1", "()", true)),
		"fill_value.npy: has the shape [2] and type <f8: must be one number": gcxs(0, npy("fill_value", "<f8", "(2,)", []float64{0, 0})),
		"compressed_axes.npy: is 2: it must be 0 for rows or 1 for columns":  gcxs(2, entry{}),
		"compressed_axes.npy: is 1, which means csc, but the format is csr":  csr(npy("compressed_axes", "<i8", "(1,)", []int64{1})),
		"compressed_axes.npy: holds 2 axes: a matrix has one":                csr(npy("compressed_axes", "<i8", "(2,)", []int64{0, 1})),
		"the array compressed_axes is missing, which the format gcxs needs":  csr(npy("format", "<U4", "()", utf32("gcxs"))),
	} {
		_, _, err := readAll(data)
		require.True(t, sparse.IsInput(err))
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, err, "t.npz")
	}
}
