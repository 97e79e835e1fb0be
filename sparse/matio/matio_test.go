package matio

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/internal/corpus"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/gen"
	"github.com/msrep-go/msrep/sparse/internal/matrixtest"
	"github.com/msrep-go/msrep/sparse/msr"
)

var ctx = context.Background()

// requireInput requires an *sparse.InputError of one line that contains all of want.
func requireInput(t require.TestingT, err error, want ...string) {
	require.True(t, sparse.IsInput(err), "%v", err)
	require.NotContains(t, err.Error(), "\n")
	for _, w := range want {
		require.ErrorContains(t, err, w)
	}
}

// square draws a small matrix with sorted columns whose last row and column are not
// empty. Formats that do not store the dimensions derive them from these.
func square(t *rapid.T) (*sparse.CSR[float64], sparse.Source) {
	n := rapid.Int32Range(1, 12).Draw(t, "n")
	sym := rapid.SampledFrom([]sparse.Symmetry{sparse.General, sparse.Symmetric}).Draw(t, "symmetry")
	field := rapid.SampledFrom([]sparse.Field{sparse.Real, sparse.Integer, sparse.Pattern}).Draw(t, "field")
	value := func() float64 {
		switch field {
		case sparse.Integer:
			return float64(rapid.IntRange(-1e9, 1e9).Draw(t, "integer"))
		case sparse.Pattern:
			return 1
		}
		return rapid.Float64Range(-1e300, 1e300).Draw(t, "value") + 0 // no -0
	}
	entries := sparse.Triples[float64]{Row: []int32{n - 1}, Col: []int32{n - 1}, Val: []float64{value()}}
	for i := range n {
		for j := range n {
			if (i > j || sym == sparse.General) && rapid.IntRange(0, 3).Draw(t, "entry") == 0 && (i != n-1 || j != n-1) {
				entries.Row, entries.Col, entries.Val = append(entries.Row, i), append(entries.Col, j), append(entries.Val, value())
			}
		}
	}
	stored := int64(len(entries.Row))
	m := sparse.Assemble(int(n), int(n), sym, []sparse.Triples[float64]{entries})
	return m, sparse.Source{Field: field, Symmetry: sym, Stored: stored}
}

func TestAnyMatrixComesBackThroughEveryExtension(t *testing.T) {
	dir := t.TempDir()
	for _, ext := range Extensions() {
		if byName(ext) == EdgeList {
			continue // only read
		}
		for _, gz := range []string{"", ".gz"} {
			t.Run(ext+gz, func(t *testing.T) {
				path := filepath.Join(dir, "m"+ext+gz)
				rapid.Check(t, func(t *rapid.T) {
					want, src := square(t)
					require.NoError(t, Write(path, want, src))
					got, err := Read(ctx, path)
					require.NoError(t, err)
					matrixtest.Same(t, want, got.CSR)
					require.Equal(t, path, got.Name)
					require.Equal(t, byName(path), got.FileFormat)
					switch got.FileFormat {
					case MatrixMarket, HarwellBoeing:
						// A general matrix may happen to be symmetric: both are then right.
						require.Equal(t, src, got.Source)
					case MSR:
						require.Equal(t, src, got.Source)
					}
					require.NoError(t, got.Close())
					require.NoError(t, got.Close())
				})
			})
		}
	}
	left, err := filepath.Glob(filepath.Join(dir, ".msrep-*"))
	require.NoError(t, err)
	require.Empty(t, left, "temporary files")
}

func TestEveryExtensionMayBeWrittenInCapitals(t *testing.T) {
	m, src, err := gen.Generate("random:rows=5,nnz=9")
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "M.RUA")
	require.NoError(t, Write(path, m, src))
	got, err := Read(ctx, path)
	require.NoError(t, err)
	require.Equal(t, HarwellBoeing, got.FileFormat)
}

func TestTheMatrixOfAnArchiveIsRead(t *testing.T) {
	for _, ext := range Extensions() {
		raw := tarred(t, "west/west_b.mtx", "west/west"+ext)
		for _, path := range []string{write(t, "west.tar", raw), write(t, "west.tar.gz", gzipped(t, raw)), write(t, "west.mtx", gzipped(t, raw)), write(t, "west.tar.zst", zstandard(t, raw))} {
			m, err := Read(ctx, path)
			require.NoError(t, err, ext)
			want, err := Read(ctx, write(t, "alone"+ext, content(t, ext)))
			require.NoError(t, err)
			require.Equal(t, want.FileFormat, m.FileFormat)
			matrixtest.SameText(t, want.CSR, m.CSR)
			require.NoError(t, m.Close())
			require.NoError(t, want.Close())
		}
	}
}

func TestFaultsInAnArchiveNameTheFileInIt(t *testing.T) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	const text = "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 x 1\n"
	require.NoError(t, w.WriteHeader(&tar.Header{Name: "a/a.mtx", Mode: 0o644, Size: int64(len(text))}))
	_, err := w.Write([]byte(text))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	path := write(t, "a.tar.gz", gzipped(t, b.Bytes()))
	_, err = Read(ctx, path)
	requireInput(t, err, path+" (a/a.mtx):3: column index")
}

func TestTheBannerIsFoundAfterMarksAndBlanks(t *testing.T) {
	text := string(content(t, ".mtx"))
	want, err := Read(ctx, write(t, "m.mtx", []byte(text)))
	require.NoError(t, err)
	for _, text := range []string{"\xef\xbb\xbf" + text, "\n\n  " + text, text[1:], "\xef\xbb\xbf\r\n" + text[1:]} {
		for _, name := range []string{"m.mtx", "m", "m.txt"} {
			m, err := Read(ctx, write(t, name, []byte(text)))
			require.NoError(t, err, "%.30q", text)
			require.Equal(t, MatrixMarket, m.FileFormat)
			matrixtest.SameText(t, want.CSR, m.CSR)
		}
	}
	m, err := Read(ctx, write(t, "edges", []byte("\xef\xbb\xbf# from to\n0 1\n")))
	require.NoError(t, err)
	require.Equal(t, SNAP, m.FileFormat)
}

func TestAGeneratorSpecIsAMatrix(t *testing.T) {
	m, err := Read(ctx, "gen:diag:n=5,value=ones")
	require.NoError(t, err)
	require.EqualValues(t, 5, m.NNZ())
	require.Equal(t, Generated, m.FileFormat)
	require.Equal(t, "gen:diag:n=5,value=ones", m.Name)
	require.Equal(t, sparse.Pattern, m.Source.Field)
	require.NoError(t, m.Close())
	_, err = Read(ctx, "gen:none")
	requireInput(t, err, "gen:none: ", "known are stencil")
}

func write(t testing.TB, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, content, 0o600))
	return path
}

func gzipped(t testing.TB, content []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write(content)
	require.NoError(t, err)
	require.NoError(t, z.Close())
	return b.Bytes()
}

func zstandard(t testing.TB, content []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z, err := zstd.NewWriter(&b)
	require.NoError(t, err)
	_, err = z.Write(content)
	require.NoError(t, err)
	require.NoError(t, z.Close())
	return b.Bytes()
}

// content is a small matrix in the format of an extension.
func content(t testing.TB, ext string) []byte {
	t.Helper()
	if byName(ext) == EdgeList {
		return []byte("a,b\nb,a\nb,c\nc,b\nc,d\nd,c\na,a\nb,b\nc,c\nd,d\n")
	}
	m, src, err := gen.Generate("banded:n=4,band=1,value=ones")
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "m"+ext)
	require.NoError(t, Write(path, m, src))
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	return b
}

func TestContentDecidesWhereItIsUnmistakable(t *testing.T) {
	for _, c := range []struct {
		content string // in the format of this extension
		name    string
		want    Format
	}{
		{".mtx", "graph.txt", MatrixMarket},
		{".mtx", "matrix", MatrixMarket},
		{".mtx", "matrix.msr", MatrixMarket},
		{".msr", "matrix.cache", MSR},
		{".msr", "matrix.mtx", MSR},
		{".npz", "matrix.zip", NPZ},
		{".hb", "matrix.mx", HarwellBoeing},
		{".rb", "matrix", HarwellBoeing},
		{".txt", "graph", SNAP},
	} {
		for _, pack := range []func(testing.TB, []byte) []byte{nil, gzipped, zstandard} {
			b := content(t, c.content)
			if pack != nil {
				b = pack(t, b)
			}
			m, err := Read(ctx, write(t, c.name, b))
			require.NoError(t, err, "%+v", c)
			require.Equal(t, c.want, m.FileFormat, "%+v", c)
			require.EqualValues(t, 10, m.NNZ())
			require.NoError(t, m.Close())
		}
	}
}

func TestAFloat32FileIsConverted(t *testing.T) {
	narrow := &sparse.CSR[float32]{Rows: 2, Cols: 3, RowPtr: []int64{0, 1, 3}, ColIdx: []int32{2, 0, 1}, Val: []float32{0.1, -3, float32(math.Inf(1))}}
	src := sparse.Source{Field: sparse.Real, Symmetry: sparse.General, Stored: 7}
	var b bytes.Buffer
	require.NoError(t, msr.Write(&b, narrow, src))
	for _, file := range [][]byte{b.Bytes(), gzipped(t, b.Bytes())} {
		m, err := Read(ctx, write(t, "m.msr", file))
		require.NoError(t, err)
		require.Equal(t, []float64{float64(float32(0.1)), -3, math.Inf(1)}, m.Val)
		require.Equal(t, narrow.RowPtr, m.RowPtr)
		require.Equal(t, src, m.Source)
		require.NoError(t, m.Close())
	}
}

func TestOptionsReachTheReaders(t *testing.T) {
	b := content(t, ".msr")
	b[len(b)-1] ^= 1
	path := write(t, "m.msr", b)
	_, err := Read(ctx, path)
	requireInput(t, err, path, "does not match its checksum")
	m, err := Read(ctx, path, SkipChecksums())
	require.NoError(t, err)
	require.NoError(t, m.Close())

	tall := write(t, "m.mtx", []byte("%%MatrixMarket matrix coordinate real general\n5000 1 0\n"))
	_, err = Read(ctx, tall)
	require.NoError(t, err)
	_, err = Read(ctx, tall, WithLimits(sparse.Limits{EmptyLines: 1000}))
	requireInput(t, err, tall, "5000 rows")
}

func TestAPipeIsReadLikeAFile(t *testing.T) {
	for _, ext := range []string{".mtx", ".msr", ".npz"} {
		r, w, err := os.Pipe()
		require.NoError(t, err)
		path := fmt.Sprintf("/dev/fd/%d", r.Fd())
		if _, err := os.Stat(path); err != nil {
			t.Skip("there is no /dev/fd here")
		}
		_, err = w.Write(content(t, ext))
		require.NoError(t, err)
		require.NoError(t, w.Close())
		m, err := Read(ctx, path)
		require.NoError(t, err, ext)
		require.EqualValues(t, 10, m.NNZ())
		require.NoError(t, m.Close())
		r.Close()
	}
}

func TestWritingOverAMappedFileLeavesTheMappingIntact(t *testing.T) {
	path := write(t, "m.msr", content(t, ".msr"))
	m, err := Read(ctx, path)
	require.NoError(t, err)
	defer m.Close()
	other, src, err := gen.Generate("diag:n=100")
	require.NoError(t, err)
	if err := Write(path, other, src); err != nil && runtime.GOOS == "windows" {
		t.Skip("mapped files cannot be replaced here")
	}
	require.EqualValues(t, 10, m.NNZ())
	require.NoError(t, m.Validate())
	require.Equal(t, []float64{1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, m.Val)
}

func TestRealMatricesComeBackThroughTheCache(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"1138_bus", "80bau3b", "Harvard500", "SmallW"} {
		want, err := Read(ctx, corpus.Shared(t, "matrices", name+".mtx.gz"))
		require.NoError(t, err)
		for _, ext := range []string{".msr", ".msr.gz", ".rb", ".npz"} {
			path := filepath.Join(dir, name+ext)
			require.NoError(t, Write(path, want.CSR, want.Source))
			got, err := Read(ctx, path)
			require.NoError(t, err)
			matrixtest.Same(t, want.CSR, got.CSR)
			if ext != ".npz" {
				got.Source.Stored = want.Source.Stored // duplicates are gone in .rb
				require.Equal(t, want.Source, got.Source, path)
			}
			require.NoError(t, got.Close())
		}
	}
}

func TestLargeIntegersOfNPZAreReal(t *testing.T) {
	m, err := Read(ctx, corpus.Shared(t, "cases", "unsigned-integer-2to64.npz"))
	require.NoError(t, err)
	require.Equal(t, sparse.Real, m.Source.Field)
	require.Equal(t, "integers from 2^53 on are rounded to the nearest float64: the field is real", m.Source.Note)
	twin, err := Read(ctx, corpus.Shared(t, "cases", "unsigned-integer-2to64.mtx"))
	require.NoError(t, err)
	matrixtest.SameText(t, m.CSR, twin.CSR)
}
