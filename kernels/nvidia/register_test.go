//go:build cuda

package nvidia

import (
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/msrep-go/msrep/internal/devicetest"
	"github.com/msrep-go/msrep/internal/nvidiatest"
	"github.com/msrep-go/msrep/kernels"
)

func TestRegisteredMemoryIsCopiedDirectly(t *testing.T) {
	onEachMachine(t, func(t *testing.T) {
		d, s := open(t, Config{})
		all := bytesOf(5*os.Getpagesize(), 1)
		first, second, other := all[10:5000], all[5000:9000], bytesOf(64, 2)
		name := filepath.Join(t.TempDir(), "mapped")
		require.NoError(t, os.WriteFile(name, all, 0o600))
		f, err := os.Open(name)
		require.NoError(t, err)
		defer f.Close()
		mapped, err := unix.Mmap(int(f.Fd()), 0, len(all), unix.PROT_READ, unix.MAP_SHARED)
		require.NoError(t, err)
		defer func() { require.NoError(t, unix.Munmap(mapped)) }()
		b, err := d.Alloc(int64(len(all)))
		require.NoError(t, err)
		for _, memory := range [][][]byte{{first, second, nil, other}, {mapped[100:9000], mapped[9000:]}} {
			release, err := d.Register(memory...)
			if err != nil && !nvidiatest.Attached() {
				t.Log(err) // an operating system may refuse to pin a file
				continue
			}
			require.NoError(t, err)
			_, err = d.Register(memory[0])
			require.ErrorContains(t, err, " bytes: CUDA error 712, part or all of the requested memory range is already mapped")
			for _, m := range memory {
				require.NoError(t, s.Write(b, 0, m))
				got := make([]byte, len(m))
				require.NoError(t, s.Read(got, b, 0))
				require.NoError(t, s.Sync())
				require.True(t, string(m) == string(got))
			}
			require.NoError(t, release())
			require.NoError(t, release())
			again, err := d.Register(memory...)
			require.NoError(t, err)
			require.NoError(t, again())
		}
		require.NoError(t, b.Free())
	})
}

func TestOnlyUnregisteredMemoryIsStaged(t *testing.T) {
	standIn(t, nvidiatest.Machine{})
	d, s := open(t, Config{})
	p := bytesOf(1<<16, 1)
	b, err := d.Alloc(1 << 16)
	require.NoError(t, err)
	staged := func() int64 {
		require.NoError(t, s.Write(b, 0, p))
		require.NoError(t, s.Sync())
		n, _ := d.Staging()
		return n
	}
	release, err := d.Register(p)
	require.NoError(t, err)
	require.Zero(t, staged())
	require.NoError(t, release())
	require.Positive(t, staged())
	nvidiatest.Fail("cuMemHostRegister_v2", 1, 304)
	release, err = d.Register(p)
	require.NoError(t, err, "pinned for reading")
	require.NoError(t, release())
	low, high := p[:1<<15], p[1<<15:] // on different pages
	release, err = d.Register(high)
	require.NoError(t, err)
	_, err = d.Register(low, high)
	require.ErrorContains(t, err, "CUDA error 712")
	again, err := d.Register(low)
	require.NoError(t, err, "the failure left nothing")
	require.NoError(t, again())
	require.NoError(t, release())
	require.NoError(t, b.Free())
	left, err := d.Register(low, high)
	require.NoError(t, err)
	require.NoError(t, d.Close(), "which lets it go")
	require.Empty(t, nvidiatest.Live())
	require.NoError(t, left())
	_, err = d.Register(p)
	require.ErrorIs(t, err, kernels.ErrClosed)
}

func TestMemoryThatIsPinnedAtItsEndsOnlyIsStaged(t *testing.T) {
	standIn(t, nvidiatest.Machine{})
	d, s := open(t, Config{})
	p := bytesOf(1<<16, 1)
	b, err := d.Alloc(1 << 16)
	require.NoError(t, err)
	copied := func() {
		t.Helper()
		require.NoError(t, s.Write(b, 0, p))
		got := make([]byte, len(p))
		require.NoError(t, s.Read(got, b, 0))
		require.NoError(t, s.Sync())
		require.True(t, string(p) == string(got))
	}
	release, err := d.Register(p[:1<<14], p[1<<15:])
	require.NoError(t, err)
	copied()
	require.NoError(t, release())
	release, err = d.Register(p)
	require.NoError(t, err)
	nvidiatest.Fail("cuPointerGetAttribute", 2, 1) // the driver does not report ranges
	copied()
	require.NoError(t, release())
	require.NoError(t, b.Free())
}

// The driver keeps addresses of registered memory in memory that it frees later. Later
// launches must not expose them to the garbage collector, which would end the program.
func TestRegisteredMemoryIsCollectedWhileKernelsAreLaunched(t *testing.T) {
	standIn(t, nvidiatest.Machine{})
	d, s := open(t, Config{})
	a, err := d.Pack(packing(kernels.FormMerge))
	require.NoError(t, err)
	x := devicetest.Upload(t, s, d, make([]float64, 5))
	y := devicetest.Upload(t, s, d, make([]float64, 4))
	busy := make([]*int, 1<<20) // work for the garbage collector
	for i := range busy {
		busy[i] = new(int)
	}
	for range 4 {
		memory := make([][]byte, 8)
		for i := range memory {
			memory[i] = make([]byte, 64)
		}
		release, err := d.Register(memory...)
		require.NoError(t, err)
		require.NoError(t, release())
		memory, release = nil, nil
		runtime.GC()
		var next sync.WaitGroup
		next.Go(runtime.GC)
		time.Sleep(2 * time.Millisecond)
		require.NoError(t, s.Launch(&kernels.MajorProductPacked[float64]{A: a, Alpha: 1, X: x, Y: y.Sub(0, 3), Carry: y.Sub(3, 4)}))
		next.Wait()
	}
	require.NoError(t, s.Sync())
	runtime.KeepAlive(busy)
	require.NoError(t, a.Free())
	require.NoError(t, x.Free())
	require.NoError(t, y.Free())
}
