package msr

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"testing/iotest"
	"unsafe"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/internal/matrixtest"
)

var ctx = context.Background()

func TestAnyMatrixComesBackThroughOpenAndRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.msr")
	rapid.Check(t, func(t *rapid.T) {
		m := anyMatrix(t)
		src := anySource(t, m.Rows == m.Cols)
		var b bytes.Buffer
		require.NoError(t, Write(&b, m, src))
		require.Zero(t, b.Len()%align)
		require.NoError(t, os.WriteFile(path, b.Bytes(), 0o600))

		f, err := Open[float64](ctx, path)
		require.NoError(t, err)
		matrixtest.Same(t, m, f.Matrix())
		require.Equal(t, src, f.Source())
		require.NoError(t, f.Close())

		got, gotSrc, err := Read[float64](ctx, iotest.OneByteReader(&b), "m", sparse.Limits{})
		require.NoError(t, err)
		matrixtest.Same(t, m, got)
		require.Equal(t, src, gotSrc)
	})
}

// large spans several chunks of checksums in each array.
func large() *sparse.CSR[float32] {
	const rows, nnz = 700_001, 2_500_000
	m := &sparse.CSR[float32]{Rows: rows, Cols: rows, RowPtr: make([]int64, rows+1), ColIdx: make([]int32, nnz), Val: make([]float32, nnz)}
	for i := range m.RowPtr {
		m.RowPtr[i] = int64(i) * nnz / rows
	}
	for k := range nnz {
		m.ColIdx[k], m.Val[k] = int32(int64(k)*7919%rows), float32(k)
	}
	return m
}

func TestAMatrixOfManyChunksComesBackAndDamageToAnyChunkIsNamed(t *testing.T) {
	m := large()
	b := encode(t, m, sparse.Source{})
	path := save(t, b)
	f, err := Open[float32](ctx, path)
	require.NoError(t, err)
	matrixtest.Same(t, m, f.Matrix())
	require.Equal(t, sparse.Source{Field: sparse.Real, Symmetry: sparse.General, Stored: m.NNZ()}, f.Source())
	require.NoError(t, f.Close())
	got, _, err := Read[float32](ctx, bytes.NewReader(b), "stream", sparse.Limits{})
	require.NoError(t, err)
	matrixtest.Same(t, m, got)

	h, err := Peek(path)
	require.NoError(t, err)
	l := layoutOf(h)
	require.EqualValues(t, 7, l.chunks)
	for chunk := range l.chunks {
		at := min(l.payload+chunk*chunkSize+chunkSize/2, l.length-1)
		b[at] ^= 1
		require.NoError(t, os.WriteFile(path, b, 0o600))
		want := chunkName(chunk, l.length-l.payload)
		_, err := Open[float32](ctx, path)
		requireInput(t, err, path, want)
		_, _, err = Read[float32](ctx, bytes.NewReader(b), "stream", sparse.Limits{})
		requireInput(t, err, "stream", want)
		b[at] ^= 1
	}
}

func TestTheArraysOfAnOpenFileAreAlignedTo64Bytes(t *testing.T) {
	f, err := Open[float64](ctx, save(t, encode(t, small(), sparse.Source{})))
	require.NoError(t, err)
	defer f.Close()
	m := f.Matrix()
	require.Zero(t, uintptr(unsafe.Pointer(&m.RowPtr[0]))%align)
	require.Zero(t, uintptr(unsafe.Pointer(&m.ColIdx[0]))%align)
	require.Zero(t, uintptr(unsafe.Pointer(&m.Val[0]))%align)
}

func TestOpeningDoesNotCopyTheArrays(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files are read into memory here")
	}
	path := save(t, encode(t, large(), sparse.Source{}))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f, err := Open[float32](ctx, path)
	require.NoError(t, err)
	defer f.Close()
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<20))
}

func TestPeekReturnsTypeAndShape(t *testing.T) {
	m := &sparse.CSR[float32]{Rows: 1, Cols: 1, RowPtr: []int64{0, 1}, ColIdx: []int32{0}, Val: []float32{3}}
	src := sparse.Source{Field: sparse.Pattern, Symmetry: sparse.Symmetric, Stored: 9}
	b := encode(t, m, src)
	h, err := Peek(save(t, b))
	require.NoError(t, err)
	require.Equal(t, Header{Version: 1, ValueType: Float32, Rows: 1, Cols: 1, NNZ: 1, Source: src, Length: int64(len(b))}, h)
	_, err = Peek(filepath.Join(t.TempDir(), "none.msr"))
	require.True(t, sparse.IsInput(err), err)
}

func TestTheLayoutOnDiskIsTheDocumentedOne(t *testing.T) {
	b := encode(t, small(), sparse.Source{Field: sparse.Integer, Symmetry: sparse.General, Stored: 6})
	require.Len(t, b, 64+64+64+64+64)
	require.Equal(t, "\x89MSR\r\n\x1a\n\x01\x00\x00\x00\x01\x02\x01\x00\x04\x00\x00\x00\x00\x00\x00\x00\x03", string(b[:25]))
	require.Equal(t, []byte{5, 0, 0, 0, 0, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0, 0x40, 1, 0, 0, 0, 0, 0, 0}, b[32:56])
	require.Equal(t, []byte{2, 0, 0, 0, 0, 0, 0, 0}, b[128+8:128+16], "rowPtr[1]")
	require.Equal(t, []byte{2, 0, 0, 0}, b[192+4:192+8], "colIdx[1]")
	require.Equal(t, []byte{0, 0, 0, 0, 0, 0, 4, 0xc0}, b[256+8:256+16], "val[1]")
}

func TestCloseMayBeCalledTwice(t *testing.T) {
	f, err := Open[float64](ctx, save(t, encode(t, small(), sparse.Source{})))
	require.NoError(t, err)
	require.NoError(t, f.Close())
	require.NoError(t, f.Close())
}

func TestOpenAndReadStopWhenTheContextIsDone(t *testing.T) {
	done, cancel := context.WithCancel(ctx)
	cancel()
	b := encode(t, small(), sparse.Source{})
	path := save(t, b)
	_, err := Open[float64](done, path)
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, VerifyPart(done, path, 0, 1), context.Canceled)
	require.ErrorIs(t, payload{make([]byte, 8)}.verify(done, make([]byte, 4), path), context.Canceled, "nobody looked at it")
	_, _, err = Read[float64](done, bytes.NewReader(b), "m", sparse.Limits{})
	require.ErrorIs(t, err, context.Canceled)
}

func TestAFileThatIsCutWhileItIsMappedGivesAnErrorInVerification(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files are read into memory here")
	}
	path := save(t, encode(t, large(), sparse.Source{}))
	f, err := Open[float32](ctx, path, SkipChecksums(), SkipIndexCheck())
	require.NoError(t, err)
	defer f.Close()
	p := payloadOf(f.Matrix())
	table := p.table()
	require.NoError(t, os.Truncate(path, 5<<20))
	requireInput(t, p.verify(ctx, table, path), path, "cut the file")
}

func TestErrorsOfTheReaderAndTheWriterArePassedOn(t *testing.T) {
	broken := errors.New("broken")
	b := encode(t, small(), sparse.Source{})
	for n := 0; n <= len(b); n += 32 {
		_, _, err := Read[float64](ctx, io.MultiReader(bytes.NewReader(b[:n]), iotest.ErrReader(broken)), "m", sparse.Limits{})
		require.ErrorIs(t, err, broken, n)
		require.ErrorIs(t, Write(&failing{n, broken}, small(), sparse.Source{}), broken)
		if n == len(b)-32 {
			break
		}
	}
}

type failing struct {
	left int
	err  error
}

func (f *failing) Write(p []byte) (int, error) {
	if f.left -= len(p); f.left < 0 {
		return 0, f.err
	}
	return len(p), nil
}

func TestMatricesThatAFileCannotHoldAreNotWritten(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*sparse.CSR[float64], *sparse.Source)
		want   string
	}{
		"index out of range":  {func(m *sparse.CSR[float64], _ *sparse.Source) { m.ColIdx[1] = 3 }, "outside [0, 3)"},
		"too few values":      {func(m *sparse.CSR[float64], _ *sparse.Source) { m.Val = m.Val[1:] }, "must be equal"},
		"no row pointers":     {func(m *sparse.CSR[float64], _ *sparse.Source) { m.RowPtr = nil }, "row pointers"},
		"unknown field":       {func(_ *sparse.CSR[float64], s *sparse.Source) { s.Field = "complex" }, `"complex" is unknown`},
		"unknown symmetry":    {func(_ *sparse.CSR[float64], s *sparse.Source) { s.Symmetry = "hermitian" }, `"hermitian" is unknown`},
		"symmetric rectangle": {func(_ *sparse.CSR[float64], s *sparse.Source) { s.Symmetry = sparse.Symmetric }, "must be equal"},
		"negative count":      {func(_ *sparse.CSR[float64], s *sparse.Source) { s.Stored = -1 }, "must not be negative"},
	} {
		t.Run(name, func(t *testing.T) {
			m, src := small(), sparse.Source{}
			c.change(m, &src)
			var b bytes.Buffer
			err := Write(&b, m, src)
			require.True(t, sparse.IsInput(err), err)
			require.ErrorContains(t, err, c.want)
			require.Zero(t, b.Len())
		})
	}
	require.True(t, sparse.IsInput(Write[float64](io.Discard, nil, sparse.Source{})))
}

func TestSizesNeverOverflow(t *testing.T) {
	h := Header{ValueType: Float64, Rows: sparse.MaxDim, NNZ: maxEntries}
	require.Positive(t, layoutOf(h).length)
	require.Greater(t, layoutOf(h).length, int64(math.MaxInt64/4))
}
