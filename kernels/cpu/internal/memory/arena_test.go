package memory

import (
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/kernels/cpu/internal/workers"
	"github.com/msrep-go/msrep/sparse"
)

// open returns the memory of a device with one worker that may take so many bytes, 0 for any number.
func open(t *testing.T, limit int64) *Memory {
	pool := workers.New(1, workers.DefaultGrain, nil, nil)
	t.Cleanup(pool.Close)
	return New(nil, kernels.Info{ID: "cpu:0", NUMANode: -1, Memory: limit}, pool, nil)
}

func TestAnArenaGivesZeroedMemoryAgainAndAgain(t *testing.T) {
	before := mem.Mapped()
	d := open(t, 0)
	for _, room := range []int64{0, leastSlab, 3 * leastSlab, 5 * leastSlab, 3 * leastSlab} { // from the third on kept memory, too
		a := Arena{NewSlab(d, 0, room)}
		sizes := []int64{1, 100_000, 0, 700_001, 64, 1 << 20} // the last one has no room in the second
		for round := range 3 {
			for _, n := range sizes[round:] {
				b, err := a[0].Take(n)
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
			require.GreaterOrEqual(t, d.InUse(), a.Bytes(), "pages that were touched are counted")
			if round < 2 {
				require.NoError(t, a.reset())
				require.Zero(t, a.Bytes())
			}
		}
		require.NoError(t, a.Seal())
		require.Equal(t, a.Bytes(), d.InUse())
		sum := int64(0)
		for _, b := range a.Buffers() {
			sum += b.Bytes()
			view, err := d.View(b)
			require.NoError(t, err)
			require.True(t, len(view) == 0 || view[0] == 1, "it stays as it is")
		}
		require.Equal(t, a.Bytes(), sum)
		require.NoError(t, a.Free())
		require.Zero(t, d.InUse())
		require.Equal(t, before+d.Spare.Bytes(), mem.Mapped())
	}
	require.NoError(t, d.Close())
	require.Equal(t, before, mem.Mapped())
}

func TestMemoryOfAFailedFormIsFreed(t *testing.T) {
	d := open(t, 0)
	for _, room := range []int64{0, leastSlab, 8 * leastSlab} {
		a := Arena{NewSlab(d, 0, room)}
		m := &form.Memory{Alloc: a[0].Take, Mark: a[0].Mark}
		kept, err := form.Make[float64](m, 1000)
		require.NoError(t, err)
		kept[999] = 1
		held, bytes := m.Used(), a.Bytes()
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
			require.Equal(t, bytes, a.Bytes())
			require.Equal(t, 1., kept[999])
		}
		require.NoError(t, a.Free())
		require.Zero(t, d.InUse())
	}
	require.NoError(t, d.Close())
}

func TestAnArenaStaysWithinTheMemoryOfItsDevice(t *testing.T) {
	d := open(t, 2*leastSlab)
	a := Arena{NewSlab(d, 0, 8*leastSlab)}
	for range 3 {
		_, err := a[0].Take(leastSlab)
		require.NoError(t, err)
		_, err = a[0].Take(leastSlab + 1)
		require.ErrorIs(t, err, kernels.ErrOutOfMemory)
		_, err = a[0].Take(leastSlab)
		require.NoError(t, err, "a failed form takes nothing")
		require.NoError(t, a.reset())
	}
	require.NoError(t, a.Free())
	require.Zero(t, d.InUse())
	require.NoError(t, d.Close())
}

func TestKeptMemoryIsUsedAgainWithinTheMemoryOfItsDevice(t *testing.T) {
	const n = 4 * leastSlab
	for _, limit := range []int64{0, 2 * n, n + leastSlab} {
		d := open(t, limit)
		first := Arena{NewSlab(d, n, 2*n)}
		_, err := first[0].Take(n)
		require.NoError(t, err)
		require.NoError(t, first.Free())
		require.Zero(t, d.InUse())
		kept := d.Spare.Bytes()
		if kept == 0 {
			t.Skip("the system has no addresses without memory")
		}
		require.Equal(t, int64(n), kept)
		b, err := d.Alloc(2 * leastSlab) // fits beside the kept memory
		require.NoError(t, err)
		if limit == n+leastSlab {
			kept = 0
		}
		require.Equal(t, kept, d.Spare.Bytes())
		again := Arena{NewSlab(d, n, 2*n)}
		require.Equal(t, kept, again[0].touched)
		require.Equal(t, kept+2*leastSlab, d.InUse())
		_, err = again[0].Take(n)
		require.Equal(t, limit == n+leastSlab, err != nil)
		require.NoError(t, b.Free())
		require.NoError(t, again.Free())
		require.Zero(t, d.InUse())
		require.NoError(t, d.Close())
		require.Zero(t, d.Spare.Bytes())
	}
}

func TestKeptMemoryIsUsedAgainWhereThereIsNoOther(t *testing.T) {
	const n = 8 << 20 // large enough to be advised
	before := mem.Mapped()
	d := open(t, 0)
	first := Arena{NewSlab(d, n, n)}
	_, err := first[0].Take(n)
	require.NoError(t, err)
	require.NoError(t, first.Free())
	kept := d.Spare.Bytes()
	defer mem.SetAvailable(0)()
	again := Arena{NewSlab(d, n, 2*n)}
	require.Equal(t, kept, again[0].touched)
	if kept == n {
		_, err = again[0].Take(n)
		require.NoError(t, err, "the process keeps the memory")
	}
	_, err = again[0].Take(n)
	require.ErrorIs(t, err, kernels.ErrOutOfMemory)
	require.NoError(t, again.Free())
	require.Zero(t, d.InUse())
	require.NoError(t, d.Close())
	require.Equal(t, before, mem.Mapped())
}

func TestTheTimeToBuildExcludesWaitingForMemory(t *testing.T) {
	require.Equal(t, 3*time.Second, Arena{{waited: time.Second}, {waited: 3 * time.Second}}.Waited())
	require.Zero(t, Arena{}.Waited())
}
