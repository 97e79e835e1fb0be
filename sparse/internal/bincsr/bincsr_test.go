package bincsr

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"runtime"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/internal/matrixtest"
)

// small has an empty row, an unsorted row, and values that differ only in their bits.
func small() *sparse.CSR[float64] {
	return &sparse.CSR[float64]{
		Rows: 4, Cols: 3,
		RowPtr: []int64{0, 2, 2, 3, 5},
		ColIdx: []int32{2, 0, 1, 0, 2},
		Val:    []float64{1, math.Copysign(0, -1), 1e300, math.Inf(1), math.NaN()},
	}
}

func encode(t testing.TB, m *sparse.CSR[float64]) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, Write(&b, m))
	return b.Bytes()
}

func read(b []byte) (*sparse.CSR[float64], error) {
	m, _, err := Read(context.Background(), bytes.NewReader(b), "m.bin", sparse.Limits{})
	return m, err
}

func TestAFileHasTheLayoutOfTheDocumentation(t *testing.T) {
	m := small()
	var want bytes.Buffer
	for _, a := range []any{[]int64{4, 3, 5}, m.RowPtr, m.ColIdx, m.Val} {
		require.NoError(t, binary.Write(&want, binary.LittleEndian, a))
	}
	require.Equal(t, want.Bytes(), encode(t, m))
}

func TestAnyMatrixComesBackBitByBit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &sparse.CSR[float64]{Rows: rapid.IntRange(0, 9).Draw(t, "rows"), Cols: rapid.IntRange(0, 9).Draw(t, "cols"), RowPtr: []int64{0}}
		for range m.Rows {
			if m.Cols > 0 {
				m.ColIdx = append(m.ColIdx, rapid.SliceOfN(rapid.Int32Range(0, int32(m.Cols-1)), 0, 8).Draw(t, "row")...)
			}
			m.RowPtr = append(m.RowPtr, int64(len(m.ColIdx)))
		}
		for range m.ColIdx {
			m.Val = append(m.Val, math.Float64frombits(rapid.Uint64().Draw(t, "value")))
		}
		var b bytes.Buffer
		require.NoError(t, Write(&b, m))
		got, src, err := Read(context.Background(), iotest.OneByteReader(&b), "m.bin", sparse.Limits{})
		require.NoError(t, err)
		matrixtest.Same(t, m, got)
		require.Equal(t, sparse.Source{Field: sparse.Real, Symmetry: sparse.General, Stored: m.NNZ()}, src)
	})
}

func TestArraysLongerThanAPieceComeBack(t *testing.T) {
	n := 5*piece + 3
	m := &sparse.CSR[float64]{Rows: n, Cols: n, RowPtr: make([]int64, n+1), ColIdx: make([]int32, n), Val: make([]float64, n)}
	for i := range n {
		m.RowPtr[i+1], m.ColIdx[i], m.Val[i] = int64(i+1), int32(n-1-i), float64(i)
	}
	got, err := read(encode(t, m))
	require.NoError(t, err)
	matrixtest.Same(t, m, got)
}

func TestFilesThatAreNoMatrixAreRefusedWithTheReason(t *testing.T) {
	good := encode(t, small())
	put := func(at int, v int64) []byte {
		b := bytes.Clone(good)
		binary.LittleEndian.PutUint64(b[at:], uint64(v))
		return b
	}
	for _, c := range []struct {
		file []byte
		want string
	}{
		{nil, "m.bin: ends after 0 bytes: binary CSR begins with rows, columns and nonzeros, 8 bytes each"},
		{good[:23], "m.bin: ends after 23 bytes: binary CSR begins"},
		{good[:24], "m.bin: ends after 24 bytes, its first numbers ask for 124: the file is truncated, or no binary CSR"},
		{good[:123], "m.bin: ends after 123 bytes, its first numbers ask for 124"},
		{append(bytes.Clone(good), 0), "m.bin: goes on after 124 bytes"},
		{put(0, -1), "m.bin: -1 rows: a size must not be negative"},
		{put(8, 1<<31), "m.bin: 2147483648 columns: more than 2147483647 are not supported"},
		{put(0, 1<<30), "m.bin: 1073741824 rows for 5 entries"},
		{put(16, -1), "m.bin: -1 nonzeros: must be 0 to"},
		{put(16, math.MaxInt64), "m.bin: 9223372036854775807 nonzeros: must be 0 to"},
		{put(24, 1), "m.bin: row pointers run from 1 to 5"},
		{put(32, 4), "m.bin: row pointer 2 falls from 4 to 2"},
		{put(64, 3), "m.bin: entry 0: column index 3 is outside [0, 3)"},
	} {
		m, err := read(c.file)
		require.True(t, sparse.IsInput(err), "%v", err)
		require.ErrorContains(t, err, c.want)
		require.Nil(t, m)
	}
	require.True(t, sparse.IsInput(Write(&bytes.Buffer{}, &sparse.CSR[float64]{Rows: 1})))
}

func TestDeclaredSizesTakeNoMemory(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, binary.Write(&b, binary.LittleEndian, []int64{10, 10, 1 << 40}))
	b.Write(make([]byte, 1000))
	for have, want := range map[int64]string{1 << 30: "to read them takes at least", math.MaxInt64: "the file is truncated"} {
		end := mem.SetAvailable(have)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := read(b.Bytes())
		runtime.ReadMemStats(&after)
		end()
		require.True(t, sparse.IsInput(err), "%v", err)
		require.ErrorContains(t, err, want)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(4<<20))
	}
}

func TestOtherErrorsAreNotInputErrors(t *testing.T) {
	broken := errors.New("the disk is gone")
	_, _, err := Read(context.Background(), iotest.ErrReader(broken), "m.bin", sparse.Limits{})
	require.ErrorIs(t, err, broken)
	require.False(t, sparse.IsInput(err))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, _, err = Read(ctx, bytes.NewReader(encode(t, small())), "m.bin", sparse.Limits{})
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, Write(failing{broken}, small()), broken)
	_, _, err = Read(context.Background(), io.MultiReader(bytes.NewReader(encode(t, small())), iotest.ErrReader(broken)), "m.bin", sparse.Limits{})
	require.ErrorIs(t, err, broken, "behind the last number")
	_, _, err = Read(context.Background(), iotest.TimeoutReader(bytes.NewReader(encode(t, small()))), "m.bin", sparse.Limits{})
	require.ErrorIs(t, err, iotest.ErrTimeout, "though the reader would go on")
}

// failing is a writer that fails.
type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// FuzzRead: for any bytes, Read returns a matrix that Write converts to the same bytes,
// or an InputError.
func FuzzRead(f *testing.F) {
	good := encode(f, small())
	f.Add(good)
	f.Add(good[:40])
	f.Add(encode(f, &sparse.CSR[float64]{RowPtr: []int64{0}}))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := read(b)
		if err != nil {
			require.True(t, sparse.IsInput(err), "%v", err)
			return
		}
		require.Equal(t, b, encode(t, m))
	})
}
