//go:build cuda

package nvidia

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/nvidiatest"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/sparse"
)

// withCores runs a test with different numbers of cores.
func withCores(t *testing.T, f func(t *testing.T)) {
	cores := []int{1, 2, 20}
	if testing.Short() {
		cores = cores[2:]
	}
	for _, n := range cores {
		t.Run(fmt.Sprintf("%d cores", n), func(t *testing.T) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(n))
			f(t)
		})
	}
}

// idle returns the number of pieces and checks that all of them are free.
func idle(t *testing.T, d *Device) (n int) {
	require.NoError(t, d.OnThread(func() {
		n = len(d.staging.pieces)
		for _, p := range d.staging.pieces {
			if p.busy || p.host != nil || len(p.copied) > 0 {
				n = -1
			}
		}
		if len(d.staging.free) != n {
			n = -1
		}
	}))
	require.GreaterOrEqual(t, n, 0, "a piece is not free")
	return n
}

func TestACopyTakesPiecesAsItNeedsThem(t *testing.T) {
	withCores(t, func(t *testing.T) {
		d, s := open(t, Config{})
		most := min(2*runtime.GOMAXPROCS(0)+2, mostPieces)
		b, err := d.Alloc(int64((2*most + 1) * pieceBytes))
		require.NoError(t, err)
		for _, c := range []struct{ bytes, pieces int }{
			{1, 1}, {pieceBytes, 1}, {pieceBytes + 1, 2}, {3 * pieceBytes, 3}, {most*pieceBytes - 1, most}, {2*most*pieceBytes + 5, most}, {9, most},
		} {
			want := bytes.Repeat(bytesOf(1009, uint64(c.bytes)), c.bytes/1009+1)[:c.bytes]
			got := make([]byte, c.bytes)
			require.NoError(t, s.Write(b, 3, want))
			require.NoError(t, s.Read(got, b, 3))
			require.NoError(t, s.Sync())
			require.True(t, bytes.Equal(want, got), c.bytes)
			require.Equal(t, c.pieces, idle(t, d), c.bytes)
			held, _ := d.Staging()
			require.Equal(t, int64((c.pieces+blockPieces-1)/blockPieces*blockBytes), held)
		}
		require.NoError(t, b.Free())
	})
}

func TestDevicesCopyAtTheSameTime(t *testing.T) {
	d0, d1, _, _ := pair(t)
	var all sync.WaitGroup
	for i, d := range []*Device{d0, d1, d0, d1} {
		s := fresh(t, d)
		n := 9*pieceBytes + i
		b, err := d.Alloc(int64(n))
		require.NoError(t, err)
		want, got := bytes.Repeat(bytesOf(1009, uint64(i)), n/1009+1)[:n], make([]byte, n)
		all.Go(func() {
			for range 3 {
				clear(got)
				if err := errors.Join(s.Write(b, 0, want), s.Read(got, b, 0), s.Sync()); err != nil || !bytes.Equal(want, got) {
					t.Errorf("%d: %v", i, err)
				}
			}
		})
		defer func() { require.NoError(t, b.Free()) }()
	}
	all.Wait()
}

func TestMemoryThatCannotBeReadOrWrittenIsAnError(t *testing.T) {
	withCores(t, func(t *testing.T) {
		d, s := open(t, Config{})
		n := 10*pieceBytes + 100
		name := filepath.Join(t.TempDir(), "mapped")
		require.NoError(t, os.WriteFile(name, make([]byte, n), 0o600))
		f, err := os.Open(name)
		require.NoError(t, err)
		defer f.Close()
		cut, err := unix.Mmap(int(f.Fd()), 0, n, unix.PROT_READ, unix.MAP_SHARED)
		require.NoError(t, err)
		defer func() { require.NoError(t, unix.Munmap(cut)) }()
		require.NoError(t, os.Truncate(name, int64(n/2)))
		good := bytesOf(n, 1)
		b, err := d.Alloc(int64(n))
		require.NoError(t, err)
		for _, part := range [][]byte{cut, cut[n-100:]} { // several pieces, and one
			for _, known := range []bool{false, true} {
				forget := func() {}
				if known {
					forget = mem.NameFile(cut, "cut.msr")
				}
				for call, err := range map[string]error{
					"write": errors.Join(s.Write(b, 0, part), s.Sync()),
					"read":  errors.Join(s.Read(part, b, 0), s.Sync()), // the file is mapped read-only
				} {
					require.ErrorContains(t, err, fmt.Sprintf("device cuda:0: %s of %d bytes: ", call, len(part)))
					require.Equal(t, known, sparse.IsInput(err), err)
					require.Equal(t, !known, errors.Is(err, kernels.ErrArgument), err)
				}
				forget()
				got := make([]byte, n)
				require.NoError(t, errors.Join(s.Write(b, 0, good), s.Read(got, b, 0), s.Sync()))
				require.True(t, bytes.Equal(good, got))
				idle(t, d)
			}
		}
		require.NoError(t, b.Free())
	})
}

func TestACopyThatFailsHalfWayLeavesAllPiecesFree(t *testing.T) {
	standIn(t, nvidiatest.Machine{})
	withCores(t, func(t *testing.T) {
		n := 4*mostPieces*pieceBytes/3 + 100
		good := bytes.Repeat(bytesOf(1009, 1), n/1009+1)[:n]
		got := make([]byte, n)
		failed := 0
		for entry, calls := range map[string][]int{
			"cuMemHostRegister_v2": {1, 2}, "cuEventCreate": {1, 5}, "cuMemcpyHtoDAsync_v2": {1, 12}, "cuMemcpyDtoHAsync_v2": {1, 12, 20},
			"cuEventRecord": {1, 12, 30, 40}, "cuEventQuery": {1, 3, 12, 30, 60},
		} {
			for _, nth := range calls {
				d, s := open(t, Config{})
				b, err := d.Alloc(int64(n))
				require.NoError(t, err)
				copied := func() error { return errors.Join(s.Write(b, 0, good), s.Read(got, b, 0), s.Sync()) }
				nvidiatest.Fail(entry, nth, 1)
				err = copied()
				if entry == "cuMemHostRegister_v2" {
					require.NoError(t, err, "the driver has memory, too")
				} else if err != nil {
					failed++
					require.ErrorContains(t, err, "CUDA error 1, ", "%s, call %d", entry, nth)
				}
				nvidiatest.Fail("", 0, 0)
				idle(t, d)
				clear(got)
				require.NoError(t, copied())
				require.True(t, bytes.Equal(good, got))
				require.NoError(t, b.Free())
				require.NoError(t, d.Close())
			}
		}
		require.Greater(t, failed, 10)
	})
}

// BenchmarkCopies copies memory that is not pinned to a GPU and back. On the stand-in,
// the thread of the device does the copies.
func BenchmarkCopies(b *testing.B) {
	d, s := open(b, Config{})
	for _, n := range []int{64 << 10, 1 << 20, 8 << 20, 64 << 20, 512 << 20} {
		m, err := d.Alloc(int64(n))
		require.NoError(b, err)
		host := bytes.Repeat([]byte{1}, n)
		for name, f := range map[string]func() error{
			"write": func() error { return s.Write(m, 0, host) },
			"read":  func() error { return s.Read(host, m, 0) },
		} {
			b.Run(fmt.Sprintf("%s %d KiB", name, n>>10), func(b *testing.B) {
				b.SetBytes(int64(n))
				for b.Loop() {
					if err := errors.Join(f(), s.Sync()); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		require.NoError(b, m.Free())
	}
}
