package npz

import (
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/internal/corpus"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/internal/matrixtest"
)

func TestWritingAndReadingGivesTheSameBits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows, cols := rapid.IntRange(0, 40).Draw(t, "rows"), rapid.IntRange(0, 40).Draw(t, "cols")
		var b sparse.Triples[float64]
		if rows > 0 && cols > 0 {
			for range rapid.IntRange(0, 120).Draw(t, "entries") {
				b.Row = append(b.Row, int32(rapid.IntRange(0, rows-1).Draw(t, "i")))
				b.Col = append(b.Col, int32(rapid.IntRange(0, cols-1).Draw(t, "j")))
				b.Val = append(b.Val, rapid.Float64().Draw(t, "v"))
			}
		}
		m := sparse.Assemble(rows, cols, sparse.General, []sparse.Triples[float64]{b})
		got, src, err := readAll(written(t, m))
		require.NoError(t, err)
		require.Equal(t, m.RowPtr, got.RowPtr)
		require.Equal(t, m.ColIdx, got.ColIdx)
		requireSameBits(t, m.Val, got.Val)
		require.Equal(t, sparse.Source{Field: sparse.Real, Symmetry: sparse.General, Stored: m.NNZ()}, src)
	})
}

func TestLongArraysAreWrittenWhole(t *testing.T) {
	const n = 20_000 // each array takes several writes
	var b sparse.Triples[float64]
	for i := range int32(n) {
		b.Row, b.Col, b.Val = append(b.Row, i), append(b.Col, n-1-i), append(b.Val, 1/float64(i+1))
	}
	m := sparse.Assemble(n, n, sparse.General, []sparse.Triples[float64]{b})
	got, _, err := readAll(written(t, m))
	require.NoError(t, err)
	require.Equal(t, m, got)
}

func requireSameBits(t require.TestingT, want, got []float64) {
	require.Equal(t, len(want), len(got))
	for k := range want {
		require.Equal(t, math.Float64bits(want[k]), math.Float64bits(got[k]))
	}
}

func TestContentIsAlignedTo64Bytes(t *testing.T) {
	for _, shape := range []string{"()", "(5,)", "(123456789012,)", "(2, 3, 4, 5, 6, 7)"} {
		head := npyHead("<f8", shape)
		require.Zero(t, len(head)%64)
		h, err := readHeader(bytes.NewReader(head))
		require.NoError(t, err)
		require.EqualValues(t, len(head), h.size)
	}
}

func TestWriteRefusesAnInvalidMatrix(t *testing.T) {
	require.True(t, sparse.IsInput(Write(&bytes.Buffer{}, nil)))
	bad := &sparse.CSR[float64]{Rows: 1, Cols: 1, RowPtr: []int64{0, 1}, ColIdx: []int32{7}, Val: []float64{1}}
	require.True(t, sparse.IsInput(Write(&bytes.Buffer{}, bad)))
}

func TestWritePassesOnTheErrorOfItsWriter(t *testing.T) {
	m, _, err := readAll(csr())
	require.NoError(t, err)
	require.ErrorIs(t, Write(full0{}, m), errFull)
}

var errFull = errors.New("disk full")

type full0 struct{}

func (full0) Write([]byte) (int, error) { return 0, errFull }

// python returns a Python with SciPy, or skips the test if there is none.
func python(t *testing.T) string {
	for _, name := range []string{"python3", "/usr/bin/python3"} {
		if exec.Command(name, "-c", "import scipy.sparse").Run() == nil {
			return name
		}
	}
	t.Skip("no Python with SciPy is here")
	return ""
}

func runPython(t *testing.T, script string, args ...string) {
	t.Helper()
	out, err := exec.Command(python(t), append([]string{"-c", script}, args...)...).CombinedOutput()
	require.NoError(t, err, string(out))
}

func TestSciPyReadsWhatWriteWrites(t *testing.T) {
	m, _, err := readAll(csr())
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "m.npz")
	require.NoError(t, os.WriteFile(path, written(t, m), 0o600))
	runPython(t, `
import sys, numpy, scipy.sparse
m = scipy.sparse.load_npz(sys.argv[1])
assert m.format == "csr" and m.dtype == "float64" and m.indices.dtype == "int32", repr(m)
assert m.has_sorted_indices and (m.toarray() == [[1, 0, 4], [0, 3, 0], [2, 0, 5]]).all(), m
`, path)
}

func TestWhatSciPyWritesIsRead(t *testing.T) {
	dir := t.TempDir()
	runPython(t, `
import sys, numpy, scipy.sparse as s
a = numpy.array([[1, 0, 4, 0], [0, 3, 0, 0], [2, 0, 5, 0], [0, 0, 0, 6]])
for dtype in "float64", "float32", "int8", "uint16", "int64", "bool", ">f8":
    try:
        s.coo_matrix(a).astype(dtype)
    except ValueError: # SciPy 1.17 has no big-endian matrices; read_test.go has one without it
        assert dtype == ">f8"
        continue
    for f in "csr", "csc", "coo", "bsr", "dia":
        for c in True, False:
            m = s.coo_matrix(a).astype(dtype).asformat(f)
            s.save_npz("%s/%s-%s-%s" % (sys.argv[1], dtype.strip(">"), f, c), m, compressed=c)
s.save_npz(sys.argv[1] + "/complex", s.csr_matrix(a * 1j))
`, dir)
	files, err := filepath.Glob(filepath.Join(dir, "*.npz"))
	require.NoError(t, err)
	read := 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		m, src, err := readAll(data)
		if base := filepath.Base(file); base == "complex.npz" {
			require.ErrorContains(t, err, "not supported", file)
			continue
		}
		require.NoError(t, err, file)
		want := [][]float64{{1, 0, 4, 0}, {0, 3, 0, 0}, {2, 0, 5, 0}, {0, 0, 0, 6}}
		if strings.Contains(file, "bool") {
			want = [][]float64{{1, 0, 1, 0}, {0, 1, 0, 0}, {1, 0, 1, 0}, {0, 0, 0, 1}}
		}
		require.Equal(t, want, matrixtest.Dense(m), file)
		switch {
		case strings.Contains(file, "float"), strings.Contains(file, "f8-"):
			require.Equal(t, sparse.Real, src.Field, file)
		case strings.Contains(file, "bool") && !strings.Contains(file, "bsr"):
			require.Equal(t, sparse.Pattern, src.Field, file)
		case strings.Contains(file, "int"):
			require.Equal(t, sparse.Integer, src.Field, file)
		}
		read++
	}
	require.Contains(t, []int{6 * 5 * 2, 7 * 5 * 2}, read)
}

func TestTheGroupsOfARealGraphFileAreRead(t *testing.T) {
	f, err := os.Open(corpus.Shared(t, "matrices", "formats", "citeseer.npz"))
	require.NoError(t, err)
	defer f.Close()
	st, err := f.Stat()
	require.NoError(t, err)
	groups, err := Groups(f, st.Size())
	require.NoError(t, err)
	require.Equal(t, []string{"adj", "attr"}, groups)
	_, _, err = Read(context.Background(), f, st.Size(), "citeseer.npz", "", sparse.Limits{})
	require.ErrorContains(t, err, "adj, attr: choose one")
	for group, want := range map[string]struct {
		cols int
		nnz  int64
		twin string
	}{
		"adj":  {3312, 4715, "gnn-citeseer-graph.mtx.gz"},
		"attr": {3703, 105165, "gnn-citeseer-features.mtx.gz"},
	} {
		m, src, err := Read(context.Background(), f, st.Size(), "citeseer.npz", group, sparse.Limits{})
		require.NoError(t, err)
		require.Equal(t, 3312, m.Rows)
		require.Equal(t, want.cols, m.Cols)
		require.Equal(t, want.nnz, m.NNZ())
		require.Equal(t, sparse.Real, src.Field)
		requireCanonical(t, m)
		twin := matrixtest.ReadMatrixMarket(t, corpus.Shared(t, "matrices", want.twin))
		require.Equal(t, twin.RowPtr, m.RowPtr)
		require.Equal(t, twin.ColIdx, m.ColIdx)
		require.Equal(t, twin.Val, m.Val)
	}
}

func BenchmarkRead(b *testing.B) {
	const n = 1 << 17
	m := &sparse.CSR[float64]{Rows: n, Cols: n, RowPtr: make([]int64, n+1)}
	for i := range n {
		for d := range 8 {
			m.ColIdx, m.Val = append(m.ColIdx, int32((i/2+d*1000)%n)), append(m.Val, float64(i)/float64(d+1))
		}
		m.RowPtr[i+1] = m.NNZ()
	}
	file := written(b, m)
	b.SetBytes(m.Bytes())
	for b.Loop() {
		_, _, err := readAll(file)
		require.NoError(b, err)
	}
}
