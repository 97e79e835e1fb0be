package mem

import (
	"runtime"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// touchedRegion is a region of room bytes, the first n of which are 7.
func touchedRegion(t *testing.T, n, room int64) *Region {
	r, err := Reserve(room)
	if err != nil {
		t.Skip("no addresses without memory: ", err)
	}
	for i := range r.Bytes()[:n] {
		r.Bytes()[i] = 7
	}
	return r
}

func TestKeptMemoryIsReused(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("pages can't be moved")
	}
	before := Mapped()
	var s Spare
	const n = minHuge + 12345
	r := touchedRegion(t, n, 4*minHuge)
	require.NoError(t, r.Shrink(n))
	require.NoError(t, s.Keep(r, n))
	require.Equal(t, int64(n), s.Bytes())
	for _, room := range []int64{n, n + 1, 3 * minHuge, 2 * minHuge} {
		r, touched := s.Take(1, room)
		require.NotNil(t, r)
		require.Zero(t, s.Bytes())
		require.Equal(t, int64(n), touched)
		b := r.Bytes()
		require.GreaterOrEqual(t, int64(len(b)), room)
		require.Equal(t, len(b), cap(b))
		require.Zero(t, uintptr(unsafe.Pointer(unsafe.SliceData(b)))%hugePage, "huge pages stay huge")
		require.Equal(t, before+int64(len(b)), Mapped())
		require.Equal(t, []byte{7, 7}, []byte{b[0], b[n-1]})
		for i, v := range b[n:] {
			if v != 0 {
				require.Zero(t, v, i)
			}
		}
		end := b[n:]
		for i := range end[:min(len(end), 100)] {
			end[i] = 9
		}
		require.NoError(t, r.Shrink(n)) // which leaves the nines in the last page
		require.NoError(t, s.Keep(r, n))
	}
	require.NoError(t, s.Close())
	require.Zero(t, s.Bytes())
	require.Equal(t, before, Mapped())
	require.NoError(t, s.Keep(touchedRegion(t, n, n), n))
	require.Equal(t, before, Mapped(), "nothing is kept after Close")
}

func TestTheSmallestSufficientRegionIsTakenElseTheLargest(t *testing.T) {
	var s Spare
	for _, n := range []int64{2, 4, 1, 3} {
		require.NoError(t, s.Keep(touchedRegion(t, n<<16, 1<<20), n<<16))
	}
	for _, c := range [][2]int64{{3, 3}, {3, 4}, {5, 2}, {1, 1}} { // what is needed, what comes
		r, touched := s.Take(c[0]<<16, 1<<20)
		require.NotNil(t, r)
		require.Equal(t, c[1]<<16, touched)
		require.NoError(t, r.Free())
	}
	r, _ := s.Take(1, 1<<20)
	require.Nil(t, r)
}

func TestKeptRegionsAreFreedInTime(t *testing.T) {
	old := keepFor
	t.Cleanup(func() { keepFor = old })
	before := Mapped()
	var s Spare
	for _, keepFor = range []time.Duration{time.Hour, time.Millisecond} {
		for range 3 {
			require.NoError(t, s.Keep(touchedRegion(t, 1, 1<<16), 1))
		}
		if keepFor == time.Hour {
			require.NoError(t, s.Drop())
			require.Equal(t, before, Mapped())
		}
	}
	require.Eventually(t, func() bool { return Mapped() == before }, 10*time.Second, time.Millisecond)
	require.Zero(t, s.Bytes())
}

func TestRegionsKeptLaterAreFreedLater(t *testing.T) {
	old := keepFor
	t.Cleanup(func() { keepFor = old })
	keepFor = time.Hour
	before := Mapped()
	var s Spare
	for range 2 {
		require.NoError(t, s.Keep(touchedRegion(t, 1, 1<<16), 1))
	}
	spares.mu.Lock()
	keepFor = 50 * time.Millisecond
	s.kept[0].since = time.Now().Add(-keepFor)
	spares.mu.Unlock()
	s.expire()
	require.Eventually(t, func() bool { return Mapped() == before }, 10*time.Second, time.Millisecond)
}

func TestKeptRegionsLeaveMemoryForOthers(t *testing.T) {
	before := Mapped()
	var s Spare
	require.NoError(t, s.Keep(touchedRegion(t, 1<<20, 1<<20), 1<<20))
	end := SetAvailable(8 * keptUnchecked)
	require.NoError(t, s.Keep(touchedRegion(t, 1, 1), keptUnchecked))
	require.Equal(t, int64(1<<20), s.Bytes(), "an eighth of what is available is the most")
	require.NoError(t, s.Keep(touchedRegion(t, 1, 1), keptUnchecked-1<<20))
	require.Equal(t, int64(keptUnchecked), s.Bytes())
	_, ok := Fits(8*keptUnchecked + 1)
	end()
	require.False(t, ok)
	require.Zero(t, s.Bytes(), "it is given back before anything is refused")
	require.Equal(t, before, Mapped())
}

func TestAvailableMemoryIsCheckedOnlyBeyondTheUncheckedBytes(t *testing.T) {
	for bytes, have := range map[int64]int64{keptUnchecked: 0, keptUnchecked + 1: 1 << 40} {
		end := SetAvailable(have)
		var s Spare
		require.NoError(t, s.Keep(touchedRegion(t, 1, 1), bytes))
		end()
		require.Equal(t, bytes, s.Bytes())
		require.NoError(t, s.Close())
	}
}

func TestRegionsWithoutSeparatePagesAreFreedAtOnce(t *testing.T) {
	before := Mapped()
	onHeap, err := New(1)
	require.NoError(t, err)
	var s Spare
	require.NoError(t, s.Keep(onHeap, 1))
	require.NoError(t, s.Keep(touchedRegion(t, 0, 1), 0))
	require.Empty(t, s.kept)
	require.Equal(t, before, Mapped())
}

func TestManyGoroutinesKeepAndTake(t *testing.T) {
	before := Mapped()
	touchedRegion(t, 1, 1<<16).Free() // skips where there is nothing to keep
	all := make([]Spare, 2)
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			s := &all[i%2]
			for k := range int64(200) {
				r, touched := s.Take(k, 1<<16)
				if r == nil {
					r, _ = Reserve(1 << 16)
				}
				r.Bytes()[touched] = 1
				_ = s.Keep(r, touched+1)
				if k%16 == 0 {
					dropSpares()
				}
			}
		})
	}
	wg.Wait()
	for i := range all {
		require.NoError(t, all[i].Close())
	}
	require.Equal(t, before, Mapped())
}
