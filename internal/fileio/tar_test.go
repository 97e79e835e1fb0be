package fileio

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/sparse"
)

// archive is a tar archive of files, each with its name as content. A name that ends in / is a folder.
func archive(t *testing.T, format tar.Format, names ...string) []byte {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, name := range names {
		h := &tar.Header{Name: name, Mode: 0o644, Size: int64(len(name)), Typeflag: tar.TypeReg, Format: format}
		if name[len(name)-1] == '/' {
			h.Typeflag, h.Size, h.Mode = tar.TypeDir, 0, 0o755
		}
		require.NoError(t, w.WriteHeader(h))
		if h.Size > 0 {
			_, err := io.WriteString(w, name)
			require.NoError(t, err)
		}
	}
	require.NoError(t, w.Close())
	return b.Bytes()
}

func zipped(t *testing.T, raw []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write(raw)
	require.NoError(t, err)
	require.NoError(t, z.Close())
	return b.Bytes()
}

func TestTheMatrixOfAnArchiveIsItsContent(t *testing.T) {
	for _, c := range []struct {
		want  string
		names []string
	}{
		{"bcsstk14/bcsstk14.mtx", []string{"bcsstk14/", "bcsstk14/bcsstk14.mtx"}},
		{"a/a.mtx", []string{"a/a_b.mtx", "a/a.mtx", "a/a_nodename.txt"}},
		{"sets/a/a.rb", []string{"README", "sets/a/a.rb"}},
		{"only.txt", []string{"./", "./only.txt"}},
		{"folder/graph.txt", []string{"folder/._graph.txt", "folder/graph.txt"}},
	} {
		for _, format := range []tar.Format{tar.FormatUSTAR, tar.FormatGNU, tar.FormatPAX} {
			raw := archive(t, format, c.names...)
			for name, content := range map[string][]byte{"m.tar": raw, "m.tar.gz": zipped(t, raw), "m.tgz": append(zipped(t, raw), make([]byte, 99)...)} {
				path := filepath.Join(t.TempDir(), name)
				require.NoError(t, os.WriteFile(path, content, 0o600))
				f, err := Open(path)
				require.NoError(t, err, c.want)
				require.Equal(t, c.want, f.Entry)
				require.Equal(t, path+" ("+c.want+")", f.Title())
				require.False(t, f.Plain())
				got, err := io.ReadAll(f)
				require.NoError(t, err)
				require.Equal(t, c.want, filepath.Clean(string(got)))
				require.NoError(t, f.Close())
			}
		}
	}
}

func TestArchivesWithoutOneMatrixAndDamagedOnesAreRefused(t *testing.T) {
	dir := t.TempDir()
	raw := archive(t, tar.FormatUSTAR, "a/a.mtx", "a/a_b.mtx")
	flipped := bytes.Clone(zipped(t, raw))
	flipped[len(flipped)-6] ^= 1 // the checksum, behind the matrix
	for name, c := range map[string]struct {
		content []byte
		message string
	}{
		"none.tar":   {archive(t, tar.FormatUSTAR, "a/"), "is a tar archive of 0 files, none of which has the name of its folder: unpack it first"},
		"two.tar.gz": {zipped(t, archive(t, tar.FormatUSTAR, "a/b.mtx", "a/c.mtx")), "is a tar archive of 2 files"},
		"cut.tar":    {raw[:515], "the tar archive is damaged or ends early"},
		"cut.tar.gz": {zipped(t, raw)[:60], "gzip content ends early"},
		"sum.tar.gz": {flipped, "damaged gzip content"},
		"head.tar":   {append(archive(t, tar.FormatUSTAR, "b.mtx")[:1024], bytes.Repeat([]byte("x"), 512)...), "the tar archive is damaged or ends early"},
	} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, c.content, 0o600))
		f, err := Open(path)
		if err == nil {
			_, err = io.ReadAll(f)
			f.Close()
		}
		require.ErrorContains(t, err, path+": "+c.message, name)
		require.True(t, sparse.IsInput(err))
	}
	require.Empty(t, openIn(dir))
}
