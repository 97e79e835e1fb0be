package matio

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/gen"
)

func TestPathsThatAreNoMatrixGiveOneClearError(t *testing.T) {
	dir := t.TempDir()
	missing := filepath.Join(dir, "none.mtx")
	secret := write(t, "secret.mtx", content(t, ".mtx"))
	require.NoError(t, os.Chmod(secret, 0))
	cases := []struct{ path, want string }{
		{dir, "is a directory; a file is needed"},
		{missing, ""},
		{missing + "#group", ""},
		{"", ""},
		{"a\x00b.mtx", ""},
		{write(t, "empty.mtx", nil), "is empty"},
		{write(t, "empty.mtx.gz", gzipped(t, nil)), "is empty"},
		{write(t, "m.doc", []byte("hello\n")), "must end in one of .mtx .rb .rsa .rua .rra .psa .pua .hb .npz .txt .csv .tsv .msr .bin, with or without .gz or .zst"},
		{write(t, "m.mx", []byte("1 2 3\n4 5 6\n7 8 9\n")), "the format is unknown"},
		{write(t, "noext", []byte{0, 1, 2}), "the format is unknown"},
		{write(t, "m.mtx", []byte("1 2 3\n")), ""},
		{write(t, "banner", []byte("%%MatrixMarket")), "has 1 words"},
		{write(t, "m.hb", []byte("hello\n")), ""},
		{write(t, "m.npz", []byte("hello\n")), ""},
		{write(t, "m.npz.gz", gzipped(t, []byte("hello\n"))), ""},
		{write(t, "m.npz", []byte("PK\x03\x04 cut")), ""},
		{write(t, "m.npz.gz", gzipped(t, []byte("PK\x03\x04 cut"))), ""},
		{write(t, "m.msr", []byte("hello\n")), "is not an .msr file"},
		{write(t, "m.msr", content(t, ".msr")[:40]), "inside the header"},
		{write(t, "m.msr", content(t, ".msr")[:100]), "truncated"},
		{write(t, "m.msr.gz", gzipped(t, content(t, ".msr")[:100])), "truncated"},
		{write(t, "m.mtx.gz", gzipped(t, content(t, ".mtx"))[:20]), "gzip"},
		{write(t, "m.msr.gz", gzipped(t, content(t, ".msr"))[:90]), "gzip"},
		{write(t, "m.npz.gz", gzipped(t, content(t, ".npz"))[:200]), "gzip"},
		{write(t, "m.mtx.gz", []byte{0x1f, 0x8b, 7}), "gzip"},
		{write(t, "m.mtx", content(t, ".mtx")) + "#group", ""},
		{write(t, "m.tar.gz", gzipped(t, tarred(t, "m/a.mtx", "m/b.mtx"))), "is a tar archive of 2 files, none of which has the name of its folder: unpack it first"},
		{write(t, "cut.tar.gz", gzipped(t, tarred(t, "m/m.mtx")[:540])), "cut.tar.gz"},
		{write(t, "gnu.tar", []byte(strings.Repeat("m", 257)+"ustar  \x00")), "the tar archive is damaged or ends early"},
		{write(t, "m.7z", []byte("7z\xbc\xaf\x27\x1c\x00\x04")), "is a 7z archive"},
		{write(t, "m.mtx.bz2", []byte("BZh91AY&SY..")), "is compressed by bzip2: unpack it first"},
		{write(t, "m.mtx", []byte("\xfd7zXZ\x00..")), "is compressed by xz"},
		{write(t, "m.mtx.zst", []byte("\x28\xb5\x2f\xfd\x00")), "zstd content ends early: the file is truncated"},
		{write(t, "m.msr.zst", zstandard(t, content(t, ".msr"))[:90]), "zstd content ends early"},
		{write(t, "m.npz.zst", zstandard(t, content(t, ".npz"))[:200]), "zstd content ends early"},
		{write(t, "m.csv", content(t, ".csv")) + "#group", "m.csv is none"},
	}
	if os.Geteuid() != 0 && runtime.GOOS != "windows" {
		cases = append(cases, struct{ path, want string }{secret, "permission denied"})
	}
	for _, c := range cases {
		m, err := Read(ctx, c.path)
		requireInput(t, err, strings.TrimSuffix(c.path, "#group"), c.want)
		require.Nil(t, m)
	}
}

func TestAGroupIsOnlyForNPZ(t *testing.T) {
	path := write(t, "m.mtx", content(t, ".mtx"))
	_, err := Read(ctx, path+"#a")
	requireInput(t, err, path+"#a: #a picks a matrix of an .npz file")
	// A # in the name of a file means nothing.
	path = write(t, "m#1.mtx", content(t, ".mtx"))
	m, err := Read(ctx, path)
	require.NoError(t, err)
	require.EqualValues(t, 10, m.NNZ())
}

func TestAnNPZFileThatUnpacksWithoutEndIsStopped(t *testing.T) {
	head, zeros := gzipped(t, []byte("PK\x03\x04")), gzipped(t, make([]byte, 1<<20))
	for mib, want := range map[int]string{
		90: "unpacks to more than 200 times its size",
		66: "is not a complete zip archive", // little beyond what is free
	} {
		path := write(t, "bomb.npz.gz", append(head[:len(head):len(head)], bytes.Repeat(zeros, mib)...))
		_, err := Read(ctx, path)
		requireInput(t, err, path, want)
	}
}

func TestReadStopsWhenTheContextIsDone(t *testing.T) {
	done, cancel := context.WithCancel(ctx)
	cancel()
	for _, ext := range []string{".mtx", ".msr", ".npz"} {
		_, err := Read(done, write(t, "m"+ext, content(t, ext)))
		require.ErrorIs(t, err, context.Canceled, ext)
		_, err = Read(done, write(t, "m"+ext+".gz", gzipped(t, content(t, ext))))
		require.ErrorIs(t, err, context.Canceled, ext)
	}
	_, err := Read(done, "gen:diag")
	require.ErrorIs(t, err, context.Canceled)
}

func TestAFailedWriteLeavesNoFile(t *testing.T) {
	dir := t.TempDir()
	m, src, err := gen.Generate("diag:n=3")
	require.NoError(t, err)
	invalid := &sparse.CSR[float64]{Rows: 1, Cols: 1, RowPtr: []int64{0, 1}, ColIdx: []int32{1}, Val: []float64{1}}
	requireInput(t, Write(filepath.Join(dir, "m.mtx"), invalid, src), "outside [0, 1)")
	requireInput(t, Write(filepath.Join(dir, "m.mtx"), nil, src), "is nil")
	requireInput(t, Write(filepath.Join(dir, "m.doc"), m, src), "the format is unknown")
	requireInput(t, Write("gen:diag", m, src), "names a generator")
	requireInput(t, Write(filepath.Join(dir, "no", "m.mtx"), m, src), "cannot be created")
	bad := src
	bad.Field = "complex"
	requireInput(t, Write(filepath.Join(dir, "m.msr"), m, bad), `"complex" is unknown`)
	require.NoError(t, os.Mkdir(filepath.Join(dir, "d.mtx"), 0o700))
	requireInput(t, Write(filepath.Join(dir, "d.mtx"), m, src), "is a directory")
	require.NoError(t, os.Remove(filepath.Join(dir, "d.mtx")))
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestErrorsKeepTheirCause(t *testing.T) {
	_, err := Read(ctx, filepath.Join(t.TempDir(), "none.mtx"))
	require.True(t, errors.Is(err, os.ErrNotExist), "%v", err)
}

// tarred returns a tar archive of files with these names, each with the content for its
// extension.
func tarred(t *testing.T, names ...string) []byte {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, name := range names {
		text := content(t, filepath.Ext(name))
		require.NoError(t, w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(text))}))
		_, err := w.Write(text)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return b.Bytes()
}
