package mem

import (
	"errors"
	"runtime"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

func TestRegionsAreZeroAlignedAndAsLongAsAsked(t *testing.T) {
	for _, n := range []int64{0, 1, 63, 4096, MinMapped - 1, MinMapped, MinMapped + 1, minHuge + 5} {
		r, err := New(n)
		require.NoError(t, err)
		b := r.Bytes()
		require.Len(t, b, int(n))
		require.Equal(t, len(b), cap(b), "nothing beyond the end can be reached")
		require.Zero(t, uintptr(unsafe.Pointer(unsafe.SliceData(b)))%align)
		for _, v := range b {
			if v != 0 {
				require.Zero(t, v)
			}
		}
		if n > 0 {
			b[0], b[n-1] = 1, 2
		}
		require.NoError(t, r.Free())
		require.Nil(t, r.Bytes())
		require.NoError(t, r.Free(), "once more does nothing")
	}
}

func TestLargeRegionsLieOutsideTheGoHeap(t *testing.T) {
	before := Mapped()
	small, err := New(MinMapped - 1)
	require.NoError(t, err)
	require.False(t, small.Mapped())
	large, err := New(MinMapped)
	require.NoError(t, err)
	require.Equal(t, hasMmap, large.Mapped())
	if hasMmap {
		require.Equal(t, before+MinMapped, Mapped())
	}
	require.NoError(t, large.Free())
	require.False(t, large.Mapped())
	require.Equal(t, before, Mapped())
}

func TestTheEndOfAReservedRegionCanBeFreed(t *testing.T) {
	before := Mapped()
	r, err := Reserve(1 << 30)
	if !hasMmap {
		require.ErrorIs(t, err, errors.ErrUnsupported)
		return
	}
	require.NotErrorIs(t, err, errors.ErrUnsupported)
	if err != nil {
		t.Skip("the system gives no addresses without memory: ", err)
	}
	require.Len(t, r.Bytes(), 1<<30)
	r.Bytes()[99_999] = 7
	require.Error(t, r.Shrink(1<<30+1))
	for _, n := range []int64{1 << 29, 100_000, 100_000} {
		require.NoError(t, r.Shrink(n))
		require.Len(t, r.Bytes(), int(n))
		require.Equal(t, int(n), cap(r.Bytes()))
		require.Equal(t, before+n, Mapped())
		require.Equal(t, byte(7), r.Bytes()[99_999])
	}
	require.NoError(t, r.Shrink(0))
	require.Nil(t, r.Bytes())
	require.Equal(t, before, Mapped())
}

func TestImpossibleRegionsAreRefused(t *testing.T) {
	_, err := New(-1)
	require.ErrorIs(t, err, errNegative)
	if hasMmap {
		_, err = New(1 << 60)
		require.ErrorContains(t, err, "map 1152921504606846976 bytes")
	}
}

func TestAlignedBytesBeginAtACacheLine(t *testing.T) {
	for n := int64(1); n <= 100; n += 11 {
		b := Aligned(n)
		require.Len(t, b, int(n))
		require.Zero(t, uintptr(unsafe.Pointer(&b[0]))%64)
	}
}

func TestSlicesStayWithinTheirBytes(t *testing.T) {
	b := Aligned(64)
	s, ok := Slice[float64](b, 8)
	require.True(t, ok)
	require.Len(t, s, 8)
	require.Equal(t, b, Bytes(s))
	none, ok := Slice[float64](b[:0], 0)
	require.True(t, ok)
	require.Empty(t, none)
	_, ok = Slice[float64](b, 9)
	require.False(t, ok)
	_, ok = Slice[float64](b, -1)
	require.False(t, ok)
	_, ok = Slice[float64](b[4:], 1)
	require.False(t, ok, "not aligned")
}

func TestUnclearedMemoryCanBeWritten(t *testing.T) {
	for range 3 { // later ones may get memory that was in use
		for _, n := range []int{0, 1, 1000, minUncleared / 4, minUncleared/4 + 1, minHuge/4 + 12345} {
			single, double := Uncleared[float32](n), Uncleared[float64](n)
			require.Len(t, single, n)
			require.Len(t, double, n)
			for i := range n {
				single[i], double[i] = float32(i), float64(-i)
			}
			runtime.GC()
			for i := range n {
				if single[i] != float32(i) || double[i] != float64(-i) {
					require.Fail(t, "an element changed", "%d of %d", i, n)
				}
			}
		}
	}
	require.Panics(t, func() { Uncleared[int32](-1) })
}

func TestMakeGivesZerosThatCanBeWritten(t *testing.T) {
	for _, n := range []int{0, 1, 1000, minHuge/8 - 1, minHuge / 8, minHuge/8 + 12345, minHuge} {
		s := Make[float64](n)
		require.Len(t, s, n)
		for i := range s {
			if s[i] != 0 {
				require.Zero(t, s[i], "element %d of %d", i, n)
			}
			s[i] = 1
		}
	}
	require.Panics(t, func() { Make[int32](-1) })
}
