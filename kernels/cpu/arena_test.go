package cpu

import (
	"runtime"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/sparse"
)

func TestAnArenaGivesZeroedMemoryAgainAndAgain(t *testing.T) {
	before := mem.Mapped()
	d := open(t, Config{Threads: 1})
	for _, room := range []int64{0, leastSlab, 3 * leastSlab, 5 * leastSlab, 3 * leastSlab} { // from the third on kept memory, too
		a := arena{newSlab(d, 0, room)}
		sizes := []int64{1, 100_000, 0, 700_001, 64, 1 << 20} // the last one has no room in the second
		for round := range 3 {
			for _, n := range sizes[round:] {
				b, err := a[0].take(n)
				require.NoError(t, err)
				require.Len(t, b, int(n))
				require.Equal(t, len(b), cap(b), "nothing beyond the end can be reached")
				require.Zero(t, uintptr(unsafe.Pointer(unsafe.SliceData(b)))%64)
				for i := range b {
					if b[i] != 0 {
						require.Zero(t, b[i], i)
					}
					b[i] = 1
				}
			}
			require.GreaterOrEqual(t, d.InUse(), a.bytes(), "pages that were touched are counted")
			if round < 2 {
				require.NoError(t, a.reset())
				require.Zero(t, a.bytes())
			}
		}
		require.NoError(t, a.seal())
		require.Equal(t, a.bytes(), d.InUse())
		sum := int64(0)
		for _, b := range a.buffers() {
			sum += b.Bytes()
			view, err := d.View(b)
			require.NoError(t, err)
			require.True(t, len(view) == 0 || view[0] == 1, "it stays as it is")
		}
		require.Equal(t, a.bytes(), sum)
		require.NoError(t, a.free())
		require.Zero(t, d.InUse())
		require.Equal(t, before+d.spare.Bytes(), mem.Mapped())
	}
	require.NoError(t, d.Close())
	require.Equal(t, before, mem.Mapped())
}

func TestMemoryOfAFailedFormIsFreed(t *testing.T) {
	d := open(t, Config{Threads: 1})
	for _, room := range []int64{0, leastSlab, 8 * leastSlab} {
		a := arena{newSlab(d, 0, room)}
		m := &form.Memory{Alloc: a[0].take, Mark: a[0].mark}
		kept, err := form.Make[float64](m, 1000)
		require.NoError(t, err)
		kept[999] = 1
		held, bytes := m.Used(), a.bytes()
		fails := sparse.Inputf("matrix", "does not suit")
		for range 2 {
			_, err = form.Try(m, func() (int, error) {
				for range 2 {
					b, err := form.Make[byte](m, leastSlab)
					require.NoError(t, err)
					require.Zero(t, b[7])
					b[7] = 1
				}
				return 0, fails
			})
			require.ErrorIs(t, err, fails)
			require.Equal(t, held, m.Used())
			require.Equal(t, bytes, a.bytes())
			require.Equal(t, 1., kept[999])
		}
		require.NoError(t, a.free())
		require.Zero(t, d.InUse())
	}
	require.NoError(t, d.Close())
}

func TestAnArenaStaysWithinTheMemoryOfItsDevice(t *testing.T) {
	d := open(t, Config{Threads: 1, Memory: 2 * leastSlab})
	a := arena{newSlab(d, 0, 8*leastSlab)}
	for range 3 {
		_, err := a[0].take(leastSlab)
		require.NoError(t, err)
		_, err = a[0].take(leastSlab + 1)
		require.ErrorIs(t, err, kernels.ErrOutOfMemory)
		_, err = a[0].take(leastSlab)
		require.NoError(t, err, "a failed form takes nothing")
		require.NoError(t, a.reset())
	}
	require.NoError(t, a.free())
	require.Zero(t, d.InUse())
	require.NoError(t, d.Close())
}

func TestKeptMemoryIsUsedAgainWithinTheMemoryOfItsDevice(t *testing.T) {
	const n = 4 * leastSlab
	for _, limit := range []int64{0, 2 * n, n + leastSlab} {
		d := open(t, Config{Threads: 1, Memory: limit})
		first := arena{newSlab(d, n, 2*n)}
		_, err := first[0].take(n)
		require.NoError(t, err)
		require.NoError(t, first.free())
		require.Zero(t, d.InUse())
		kept := d.spare.Bytes()
		if kept == 0 {
			t.Skip("the system has no addresses without memory")
		}
		require.Equal(t, int64(n), kept)
		b, err := d.Alloc(2 * leastSlab) // fits beside the kept memory
		require.NoError(t, err)
		if limit == n+leastSlab {
			kept = 0
		}
		require.Equal(t, kept, d.spare.Bytes())
		again := arena{newSlab(d, n, 2*n)}
		require.Equal(t, kept, again[0].touched)
		require.Equal(t, kept+2*leastSlab, d.InUse())
		_, err = again[0].take(n)
		require.Equal(t, limit == n+leastSlab, err != nil)
		require.NoError(t, b.Free())
		require.NoError(t, again.free())
		require.Zero(t, d.InUse())
		require.NoError(t, d.Close())
		require.Zero(t, d.spare.Bytes())
	}
}

func TestKeptMemoryIsUsedAgainWhereThereIsNoOther(t *testing.T) {
	const n = 8 << 20 // large enough to be advised
	before := mem.Mapped()
	d := open(t, Config{Threads: 1})
	first := arena{newSlab(d, n, n)}
	_, err := first[0].take(n)
	require.NoError(t, err)
	require.NoError(t, first.free())
	kept := d.spare.Bytes()
	defer mem.SetAvailable(0)()
	again := arena{newSlab(d, n, 2*n)}
	require.Equal(t, kept, again[0].touched)
	if kept == n {
		_, err = again[0].take(n)
		require.NoError(t, err, "the process keeps the memory")
	}
	_, err = again[0].take(n)
	require.ErrorIs(t, err, kernels.ErrOutOfMemory)
	require.NoError(t, again.free())
	require.Zero(t, d.InUse())
	require.NoError(t, d.Close())
	require.Equal(t, before, mem.Mapped())
}

func TestASearchWithoutMemoryForItsVectorsFreesWhatItTook(t *testing.T) {
	const limit, n = 1 << 20, leastSlab
	before := mem.Mapped()
	d := open(t, Config{Threads: 1, Memory: limit})
	kept := arena{newSlab(d, n, n)}
	_, err := kept[0].take(n)
	require.NoError(t, err)
	require.NoError(t, kept.free())
	b, err := d.Alloc(limit - n - n/2) // fits beside the kept memory, the vectors do not
	require.NoError(t, err)
	p := mustPack(t, d, bandPart(10_000))
	require.Equal(t, "no memory to look for another form", p.Info().Why)
	require.Equal(t, b.Bytes(), d.InUse())
	require.NoError(t, p.Free())
	require.NoError(t, b.Free())
	require.NoError(t, d.Close())
	require.Equal(t, before, mem.Mapped())
}

func TestTheMemoryOfAFreedPartServesTheNext(t *testing.T) {
	d := open(t, Config{Threads: 2})
	op := bandPart(100_000)
	op.Form = "slices"
	var first int64
	for round := range 3 {
		a := mustPack(t, d, op)
		require.Equal(t, a.Info().Bytes, d.InUse())
		require.Zero(t, d.spare.Bytes(), "round %d", round)
		require.NoError(t, a.Free())
		if round == 0 {
			first = d.spare.Bytes()
			require.Equal(t, runtime.GOOS == "linux", first > 0)
		}
		require.Equal(t, first, d.spare.Bytes())
		require.Zero(t, d.InUse())
	}
	require.NoError(t, d.Close())
}

func TestTheTimeToBuildExcludesWaitingForMemory(t *testing.T) {
	require.Equal(t, 3*time.Second, arena{{waited: time.Second}, {waited: 3 * time.Second}}.waited())
	require.Zero(t, arena{}.waited())
}
