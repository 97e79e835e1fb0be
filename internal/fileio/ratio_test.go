package fileio

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/sparse"
)

func TestContentThatUnpacksTooFarIsRefused(t *testing.T) {
	var member bytes.Buffer // 1 MiB of comments in 1 KiB
	z, err := gzip.NewWriterLevel(&member, gzip.BestCompression)
	require.NoError(t, err)
	_, err = z.Write(bytes.Repeat([]byte("%\n"), 1<<19))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	for mib, refused := range map[int]bool{60: false, 100: true} {
		path := filepath.Join(t.TempDir(), "bomb.mtx.gz")
		require.NoError(t, os.WriteFile(path, bytes.Repeat(member.Bytes(), mib), 0o600))
		f, err := Open(path)
		require.NoError(t, err)
		n, err := io.Copy(io.Discard, f)
		if !refused {
			require.NoError(t, err)
			require.EqualValues(t, mib<<20, n)
		} else {
			require.True(t, sparse.IsInput(err))
			require.EqualError(t, err, path+": unpacks to more than 200 times its size and 64 MiB: unpack it with gunzip first if it is right")
			require.Less(t, n, int64(mib<<20), "it stops early")
		}
		require.NoError(t, f.Close())
	}
	require.False(t, UnpacksTooFar(UnpackFree, 0))
	require.False(t, UnpacksTooFar(UnpackFree+UnpackRatio*1000, 1000))
	require.True(t, UnpacksTooFar(UnpackFree+UnpackRatio*1001, 1000))
}
