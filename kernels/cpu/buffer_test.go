package cpu

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu/internal/memory"
	"github.com/msrep-go/msrep/partition"
)

// mustPack is Pack without an error.
func mustPack(t require.TestingT, d *Device, op kernels.Operation) kernels.Packed {
	p, err := d.Pack(op)
	require.NoError(t, err)
	return p
}

// open returns a Device that is closed when the test ends, a rapid one too.
func open(t interface {
	require.TestingT
	Cleanup(func())
}, c Config) *Device {
	d, err := Open(c)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	return d
}

func TestBuffersAreCountedAndFreedOnce(t *testing.T) {
	d := open(t, Config{Threads: 1, NUMANode: -1})
	for _, n := range []int64{0, 8, mem.MinMapped, 8 << 20} {
		b, err := d.Alloc(n)
		require.NoError(t, err)
		require.Equal(t, n, b.Bytes())
		require.Equal(t, n, d.InUse())
		require.NoError(t, b.Free())
		require.Zero(t, d.InUse())
		require.NoError(t, b.Free())
		require.Zero(t, d.InUse(), "a second Free does nothing")
	}
	_, err := d.Alloc(1 << 60)
	require.ErrorIs(t, err, kernels.ErrOutOfMemory)
	require.Zero(t, d.InUse())
	b, err := d.Alloc(64)
	require.NoError(t, err)
	require.ErrorContains(t, d.Close(), "64 bytes were not freed")
	require.NoError(t, b.Free(), "also after the device was closed")
}

func TestFreedBuffersGiveErrorsEverywhere(t *testing.T) {
	d := open(t, Config{Threads: 2, NUMANode: -1})
	s, err := d.NewStream()
	require.NoError(t, err)
	const n = 1 << 13
	x, err := kernels.NewArray[float64](d, n)
	require.NoError(t, err)
	y, err := kernels.NewArray[float64](d, 1)
	require.NoError(t, err)
	idx, ptr := kernels.AdoptArray(d, make([]int32, n)), kernels.AdoptArray(d, []int64{0, n})
	require.NoError(t, x.Free())
	host := make([]float64, n)
	require.ErrorIs(t, x.Write(s, host), kernels.ErrClosed)
	require.ErrorIs(t, x.Read(s, host), kernels.ErrClosed)
	require.ErrorIs(t, s.Copy(y.Buf, 0, x.Buf, 0, 8), kernels.ErrClosed)
	require.ErrorIs(t, s.Copy(x.Buf, 0, y.Buf, 0, 8), kernels.ErrClosed)
	_, err = kernels.View(d, x)
	require.ErrorIs(t, err, kernels.ErrClosed)
	a := kernels.Compressed[float64]{Part: partition.Part{EndIdx: n - 1, OwnEnd: 1}, Ptr: ptr, Idx: idx, Val: x}
	err = s.Launch(&kernels.MajorProduct[float64]{A: a, Alpha: 1, X: kernels.AdoptArray(d, host), Y: y})
	require.ErrorIs(t, err, kernels.ErrClosed)
	require.ErrorContains(t, err, "val: already closed: the buffer was freed")
	require.NoError(t, y.Free())
	require.NoError(t, d.Close())
}

func TestMemoryStaysWhileACallUsesIt(t *testing.T) {
	d := open(t, Config{Threads: 1, NUMANode: -1})
	b, err := d.Alloc(1 << 20)
	require.NoError(t, err)
	v := memory.NewViews(d.mem)
	m, err := v.Hold(b)
	require.NoError(t, err)
	require.NoError(t, b.Free())
	require.Equal(t, int64(1<<20), d.InUse())
	m[1<<20-1] = 1 // crashes if the memory was unmapped
	_, err = v.Hold(b)
	require.ErrorIs(t, err, kernels.ErrClosed, "no new use")
	v.Close(&err)
	require.Zero(t, d.InUse())
	require.NoError(t, d.Close())
}

func TestBuffersMayBeFreedWhileOthersCopy(t *testing.T) {
	d := open(t, Config{Threads: 2, NUMANode: -1})
	for range 200 {
		b, err := d.Alloc(256 << 10)
		require.NoError(t, err)
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				s, _ := d.NewStream()
				host := make([]byte, 256<<10)
				for s.Write(b, 0, host) == nil && s.Read(host, b, 0) == nil {
				}
			})
		}
		all.Go(func() { _ = b.Free() })
		all.Wait()
		require.Zero(t, d.InUse())
	}
	require.NoError(t, d.Close())
}

func TestWorkersResultsAreCountedApartAndFreedByClose(t *testing.T) {
	before := mem.Mapped()
	for _, cpus := range [][]int{nil, {0}} {
		d := open(t, Config{Threads: 3, NUMANode: -1, CPUs: cpus, Grain: 1})
		for _, n := range []int{1 << 12, 1 << 14, 1 << 13} { // the second one needs more than there is
			scatterReversed(t, d, n)
		}
		require.Equal(t, int64(3*8<<14), d.Scratch())
		require.Zero(t, d.InUse())
		require.NoError(t, d.Close())
		require.Zero(t, d.Scratch())
		require.Equal(t, before, mem.Mapped())
	}
}

func TestMemoryThatTheMachineLacksIsRefused(t *testing.T) {
	defer mem.SetAvailable(20 << 20)()
	d := open(t, Config{Threads: 1})
	_, err := d.Alloc(20<<20 + 1)
	require.ErrorIs(t, err, kernels.ErrOutOfMemory)
	require.ErrorContains(t, err, "20971520 are available")
	require.Zero(t, d.InUse())
	b, err := d.Alloc(20 << 20)
	require.NoError(t, err)
	require.NoError(t, b.Free())
	require.NoError(t, d.Close())
}

// scatterReversed multiplies by 2 times the matrix that reverses a vector.
func scatterReversed(t *testing.T, d *Device, n int) {
	s, err := d.NewStream()
	require.NoError(t, err)
	val, idx, ptr := make([]float64, n), make([]int32, n), make([]int64, n+1)
	for i := range n {
		val[i], idx[i], ptr[i+1] = 1, int32(n-1-i), int64(i+1)
	}
	y := make([]float64, n)
	y[7] = 5
	a := kernels.Compressed[float64]{Part: partition.Part{EndIdx: int64(n) - 1, EndMajor: n - 1, OwnEnd: n},
		Ptr: kernels.AdoptArray(d, ptr), Idx: kernels.AdoptArray(d, idx), Val: kernels.AdoptArray(d, val)}
	require.NoError(t, s.Launch(&kernels.MinorProduct[float64]{A: a, Alpha: 2, Beta: 1, X: kernels.AdoptArray(d, val), Y: kernels.AdoptArray(d, y)}))
	require.Equal(t, 2.0, y[0])
	require.Equal(t, 7.0, y[7])
}
