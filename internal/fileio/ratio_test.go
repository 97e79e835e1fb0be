package fileio

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/sparse"
)

// repeated is a gzipped text of n MiB of zeros after a start that does not compress.
func repeated(t *testing.T, mib, head int) []byte {
	pack := func(b []byte) []byte {
		var out bytes.Buffer
		z := gzip.NewWriter(&out)
		_, err := z.Write(b)
		require.NoError(t, err)
		require.NoError(t, z.Close())
		return out.Bytes()
	}
	random := make([]byte, head)
	for i, x := 0, uint32(1); i < head; i++ {
		x = x*1664525 + 1013904223
		random[i] = byte(x >> 24)
	}
	return append(pack(random), bytes.Repeat(pack(make([]byte, 1<<20)), mib)...)
}

func TestContentThatUnpacksTooFarIsRefused(t *testing.T) {
	const refusal = "unpacks to more than 200 times its size and 64 MiB: unpack it first if it is right"
	for name, c := range map[string]struct {
		mib, head int
		refused   bool
	}{
		"as much as is free":                 {64, 0, false},
		"more":                               {90, 0, true},
		"the same in a file that is larger":  {90, 1 << 20, false},
		"more than a larger file may unpack": {400, 1 << 20, true},
	} {
		t.Run(name, func(t *testing.T) {
			b := repeated(t, c.mib, c.head)
			path := filepath.Join(t.TempDir(), "m.mtx.gz")
			require.NoError(t, os.WriteFile(path, b, 0o600))
			paths := []string{path}
			if runtime.GOOS == "linux" {
				r, w, err := os.Pipe()
				require.NoError(t, err)
				defer r.Close()
				go func() {
					w.Write(b)
					w.Close()
				}()
				paths = append(paths, filepath.Join("/proc/self/fd", descriptor(r)))
			}
			for _, path := range paths {
				f, err := Open(path)
				require.NoError(t, err)
				defer f.Close()
				n, err := io.Copy(io.Discard, f)
				if !c.refused {
					require.NoError(t, err)
					require.EqualValues(t, c.mib<<20+c.head, n)
					continue
				}
				require.EqualError(t, err, path+": "+refusal)
				require.True(t, sparse.IsInput(err))
				require.Less(t, n, int64(UnpackFree+UnpackRatio*(f.Packed()+1)+1<<16))
			}
		})
	}
}

func TestTheRatioHasNoMarginOfItsOwn(t *testing.T) {
	require.False(t, UnpacksTooFar(UnpackFree, 0))
	require.False(t, UnpacksTooFar(UnpackFree+UnpackRatio*1000, 1000))
	require.True(t, UnpacksTooFar(UnpackFree+UnpackRatio*1001, 1000))
}

// An archive is read twice: first to find the file, then to read it.
func TestArchivesThatUnpackTooFarAreRefused(t *testing.T) {
	for name, sizes := range map[string][]int{"before the matrix": {100, 1}, "behind it": {1, 100}, "the matrix": {100}, "in all": {40, 40, 40}} {
		var raw bytes.Buffer
		w := tar.NewWriter(&raw)
		for i, mib := range sizes {
			at := map[int]string{1: "a/a.mtx", 100: "a/b.mtx", 40: fmt.Sprintf("a/%d.mtx", i)}[mib]
			if len(sizes) == 1 {
				at = "a/a.mtx"
			}
			require.NoError(t, w.WriteHeader(&tar.Header{Name: at, Mode: 0o600, Size: int64(mib) << 20}))
			for range mib {
				_, err := w.Write(make([]byte, 1<<20))
				require.NoError(t, err)
			}
		}
		require.NoError(t, w.Close())
		path := filepath.Join(t.TempDir(), "m.tar.gz")
		require.NoError(t, os.WriteFile(path, zipped(t, raw.Bytes()), 0o600))
		f, err := Open(path)
		if err == nil {
			_, err = io.Copy(io.Discard, f)
			f.Close()
		}
		require.EqualError(t, err, path+": unpacks to more than 200 times its size and 64 MiB: unpack it first if it is right", name)
	}
}
