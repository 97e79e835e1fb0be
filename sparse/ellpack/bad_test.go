package ellpack_test

import (
	"errors"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/ellpack"
)

// longRow returns n rows of one entry, except for the middle row, which has n.
func longRow(n int) ellpack.Rows[float64] {
	lengths := make([]int, n)
	for i := range lengths {
		lengths[i] = 1
	}
	lengths[n/2] = n
	rows, _ := matrix(lengths, 1)
	return rows
}

func TestOneLongRowIsRefusedByELLOnly(t *testing.T) {
	rows := longRow(20_000)
	for _, f := range ellpack.Formats() {
		got, err := build(f, rows, ellpack.Options{Height: 32})
		if f == ellpack.FormatELL {
			require.True(t, sparse.IsInput(err))
			require.EqualError(t, err, "format: ell takes 4800000000 bytes, of which padding is 399960001 places for 39999 entries, because the longest of 20000 rows has 20000: more than the 1076301808 bytes it may take; use sell, jad or csr")
			continue
		}
		require.NoError(t, err, f)
		require.Len(t, got.entries, 39_999, f)
		sliced := f == ellpack.FormatELLR || f == ellpack.FormatPELLR || f == ellpack.FormatPELLRWarp
		require.Equal(t, sliced, got.shape.Sliced, f)
		require.Less(t, got.shape.Bytes(8), int64(20<<20), f)
	}
}

func TestNumbersBeyond63BitsBecomeTheLargestNumber(t *testing.T) {
	// 2^16 rows of 2^30 entries need no arrays to be measured.
	ptr := make([]int64, 1<<16+1)
	for i := range ptr {
		ptr[i] = int64(i) << 30
	}
	l, err := ellpack.Measure(ptr, 0, 1<<46, ellpack.Options{})
	require.NoError(t, err)
	s, _ := l.Shape(ellpack.FormatELL, 8)
	require.EqualValues(t, int64(1)<<46, s.Slots)
	s.Slots = math.MaxInt64 / 8
	require.EqualValues(t, int64(math.MaxInt64), s.Bytes(8))
}

func TestWrongOptionsAndRowsAreRefused(t *testing.T) {
	rows, _ := matrix([]int{1, 2}, 1)
	for _, o := range []ellpack.Options{{Height: 3}, {Height: 128}, {Height: 1}, {Height: -8}, {Sigma: 33}, {Sigma: -32}} {
		_, err := ellpack.NewSELL(rows, o)
		require.True(t, sparse.IsInput(err), "%+v", o)
	}
	_, err := ellpack.Measure([]int64{0, 1 << 31}, 0, 1<<31, ellpack.Options{})
	require.True(t, sparse.IsInput(err))
	require.ErrorContains(t, err, "a row of 2147483648 entries")
}

func TestRowsThatDoNotHoldTheirEntriesAreRefused(t *testing.T) {
	for _, c := range []struct {
		ptr             []int64
		first, end      int64
		columns, values int
	}{
		{[]int64{0, 1, 2}, 5, 2, 0, 0},                          // the end before the first
		{[]int64{0, 1, 2}, -1, 2, 3, 3},                         // below 0
		{[]int64{0, 2, 1, 2}, 0, 2, 2, 2},                       // falls
		{[]int64{0, 1, 2}, 0, 3, 3, 3},                          // too few in the rows
		{[]int64{1, 2}, 0, 2, 2, 2},                             // the same at the beginning
		{[]int64{0, 1, 2}, 0, 2, 1, 2},                          // too few columns
		{[]int64{0, 1, 2}, 0, 2, 2, 3},                          // too many values
		{[]int64{0, 1}, math.MaxInt64, math.MaxInt64 - 1, 0, 0}, // far out
		{[]int64{0, 1}, 0, math.MinInt64, 0, 0},
		{[]int64{0, 1}, math.MinInt64, math.MaxInt64, 1, 1},
	} {
		r := ellpack.Rows[float64]{Ptr: c.ptr, First: c.first, End: c.end, Idx: make([]int32, c.columns), Val: make([]float64, c.values)}
		for _, f := range ellpack.Formats() {
			_, err := build(f, r, ellpack.Options{})
			require.True(t, sparse.IsInput(err), "%s %+v", f, c)
		}
	}
}

func TestAnErrorOfAllocIsReturned(t *testing.T) {
	full := errors.New("no memory left")
	test := func(f sparse.Format, lengths []int, most int64) {
		rows, _ := matrix(lengths, 1)
		for after := range 6 {
			calls := 0
			_, err := build(f, rows, ellpack.Options{Height: 2, Sigma: 2, MaxBytes: most, Alloc: func(n int64) ([]byte, error) {
				if calls++; calls > after {
					return nil, full
				}
				return make([]byte, n), nil
			}})
			if calls > after {
				require.ErrorIs(t, err, full, f)
			} else {
				require.NoError(t, err)
			}
		}
	}
	for _, f := range ellpack.Formats() {
		test(f, []int{5, 1, 0, 7, 7, 2}, 0)
	}
	test(ellpack.FormatELLR, []int{9, 1, 0, 1, 1, 1}, 6*9*12-1) // cut into warps
}

func TestTheLargestFormatIsRefusedBeforeMemoryIsTaken(t *testing.T) {
	rows, _ := matrix([]int{100, 1, 1, 1, 1, 1, 1, 1}, 1)
	_, err := ellpack.NewELL(rows, ellpack.Options{MaxBytes: 12*3200 - 1, Alloc: func(int64) ([]byte, error) {
		t.Fatal("memory was asked for")
		return nil, nil
	}})
	require.True(t, sparse.IsInput(err))
	_, err = ellpack.NewELL(rows, ellpack.Options{MaxBytes: 12 * 3200})
	require.NoError(t, err)
}

func TestAFormatLargerThanTheMachineIsAnErrorBeforeMemoryIsTaken(t *testing.T) {
	_, err := ellpack.NewELL(longRow(300_000), ellpack.Options{MaxBytes: math.MaxInt64})
	require.ErrorIs(t, err, ellpack.ErrMemory)
	require.ErrorContains(t, err, "ell takes 1080000000000 bytes")
}
