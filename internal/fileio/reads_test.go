package fileio_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/fileio"
)

func TestReadsOfAFileAreReported(t *testing.T) {
	dir := t.TempDir()
	plain := bytes.Repeat([]byte("0123456789\n"), 50_000)
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, err := z.Write(plain)
	require.NoError(t, err)
	require.NoError(t, z.Close())
	for name, content := range map[string][]byte{"a.txt": plain, "a.txt.gz": packed.Bytes()} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, content, 0o600))
		var done []int64
		f, err := fileio.Open(path)
		require.NoError(t, err)
		f.ReportTo(fileio.WithReads(t.Context(), func(n, size int64) {
			require.Equal(t, int64(len(content)), size)
			done = append(done, n)
		}))
		got, err := io.ReadAll(f)
		require.NoError(t, err)
		require.NoError(t, f.Close())
		require.Equal(t, plain, got)
		require.IsIncreasing(t, append([]int64{0}, done[:len(done)-1]...), "the last read finds the end")
		require.Equal(t, int64(len(content)), done[len(done)-1])
	}
	f, err := fileio.Open(filepath.Join(dir, "a.txt"))
	require.NoError(t, err)
	f.ReportTo(t.Context()) // without a function nothing happens
	require.NoError(t, f.Close())
}

func TestAFileIsNoTerminal(t *testing.T) {
	f, err := os.Open(os.DevNull)
	require.NoError(t, err)
	defer f.Close()
	_, ok := fileio.TerminalWidth(f)
	require.False(t, ok)
}
