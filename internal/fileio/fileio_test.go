package fileio

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/sparse"
)

func list(t *testing.T, dir string) (names []string) {
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestAnOutputFileAppearsOnlyWhenItIsCommitted(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "y.mtx")
	require.NoError(t, os.WriteFile(path, []byte("old"), 0o600))
	out, err := Create(path)
	require.NoError(t, err)
	_, err = out.Write([]byte("new"))
	require.NoError(t, err)
	old, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "old", string(old))
	require.NoError(t, out.Commit())
	require.Empty(t, openIn(dir))
	require.NoError(t, out.Close())
	now, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "new", string(now))
	require.Equal(t, []string{"y.mtx"}, list(t, dir))
	st, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), st.Mode().Perm(), "the mode of the file that was replaced")
}

func TestWithoutCommitNoFileRemains(t *testing.T) {
	dir := t.TempDir()
	out, err := Create(filepath.Join(dir, "y.mtx"))
	require.NoError(t, err)
	require.NoError(t, out.Close())
	require.NoError(t, out.Close(), "once more does nothing")
	require.Empty(t, list(t, dir))

	out, err = Create(filepath.Join(dir, "z.mtx"))
	require.NoError(t, err)
	RemovePending()
	defer stopped.Store(false)
	require.Empty(t, list(t, dir))
	n, err := out.Write(make([]byte, 10))
	require.Zero(t, n)
	require.ErrorContains(t, err, "z.mtx: cannot be written: the program is about to end")
	require.Error(t, out.Commit())
	require.Empty(t, list(t, dir))
	_, err = Create(filepath.Join(dir, "late.mtx"))
	require.ErrorContains(t, err, "about to end")
	require.Empty(t, list(t, dir))
}

func TestALinkStaysAndItsTargetIsReplaced(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	far, near := filepath.Join(other, "target.mtx"), filepath.Join(dir, "target.mtx")
	for to, path := range map[string]string{far: far, "target.mtx": near} { // the second from the folder of the link
		link := filepath.Join(dir, "link.mtx")
		require.NoError(t, os.Symlink(to, link))
		for _, text := range []string{"through a dangling link", "through a link"} {
			out, err := Create(link)
			require.NoError(t, err)
			_, err = out.Write([]byte(text))
			require.NoError(t, err)
			require.NoError(t, out.Commit())
			got, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, text, string(got))
			st, err := os.Lstat(link)
			require.NoError(t, err)
			require.NotZero(t, st.Mode()&os.ModeSymlink)
		}
		require.NoError(t, os.Remove(link))
	}
}

func TestTheLongestNameThatTheSystemAllowsIsFine(t *testing.T) {
	out, err := Create(filepath.Join(t.TempDir(), strings.Repeat("y", 250)+".mtx"))
	require.NoError(t, err)
	require.NoError(t, out.Commit())
}

func TestANameThatIsTooLongIsRefusedAtOnce(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, strings.Repeat("y", 300))
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		t.Skip("names may be this long here")
	}
	_, err := Create(path)
	require.ErrorContains(t, err, path+": cannot be created: ")
	require.Empty(t, list(t, dir))
}

func TestDevicesAndFoldersAreNotReplaced(t *testing.T) {
	_, err := Create(t.TempDir())
	require.ErrorContains(t, err, "is a directory")
	_, err = Create(filepath.Join(t.TempDir(), "none", "y"))
	require.ErrorContains(t, err, "no such file")
	require.NotContains(t, err.Error(), nameSuffix, "the temporary name is nobody's business")
	out, err := Create(os.DevNull)
	require.NoError(t, err, "a device is written in place")
	_, err = out.Write([]byte("gone"))
	require.NoError(t, err)
	require.NoError(t, out.Commit())
	st, err := os.Stat(os.DevNull)
	require.NoError(t, err)
	require.False(t, st.Mode().IsRegular(), "and is still one")
}

func TestCompressionIsDetectedByContentAndWrittenByName(t *testing.T) {
	for ext, packing := range map[string]string{".gz": Gzip, ".zst": Zstd, ".mtx": ""} {
		path := filepath.Join(t.TempDir(), "y.mtx"+ext)
		out, err := Create(path)
		require.NoError(t, err)
		_, err = out.Write([]byte("some text"))
		require.NoError(t, err)
		require.NoError(t, out.Commit())
		raw, err := os.ReadFile(path)
		require.NoError(t, err)
		plain := filepath.Join(t.TempDir(), "renamed.txt")
		require.NoError(t, os.WriteFile(plain, raw, 0o600))
		for _, p := range []string{path, plain} {
			f, err := Open(p)
			require.NoError(t, err)
			require.Equal(t, packing, f.Packing)
			require.Equal(t, packing == "", f.Plain())
			text, err := io.ReadAll(f)
			require.NoError(t, err)
			require.Equal(t, "some text", string(text))
			require.NoError(t, f.Close())
		}
	}
}

func TestFramesOfZstdFollowEachOther(t *testing.T) {
	z, err := zstd.NewWriter(nil)
	require.NoError(t, err)
	skipped := "\x50\x2a\x4d\x18\x03\x00\x00\x00abc"
	path := filepath.Join(t.TempDir(), "m")
	require.NoError(t, os.WriteFile(path, slices.Concat([]byte(skipped), z.EncodeAll([]byte("one "), nil), []byte(skipped), z.EncodeAll([]byte("two"), nil)), 0o600))
	f, err := Open(path)
	require.NoError(t, err)
	defer f.Close()
	text, err := io.ReadAll(f)
	require.NoError(t, err)
	require.Equal(t, "one two", string(text))
}

func TestDamagedZstdIsAnInputErrorThatNamesTheFile(t *testing.T) {
	z, err := zstd.NewWriter(nil)
	require.NoError(t, err)
	text := make([]byte, 100_000)
	for i, x := 0, uint32(1); i < len(text); i++ {
		x = x*1664525 + 1013904223
		text[i] = byte(x >> 24)
	}
	raw := z.EncodeAll(text, nil)
	sum := bytes.Clone(raw)
	sum[len(sum)-1] ^= 1
	for message, b := range map[string][]byte{
		"zstd content ends early: the file is truncated": raw[:len(raw)/2],
		"damaged zstd content":                           sum,
		"other bytes follow the end of the zstd content": append(bytes.Clone(raw), "other bytes"...),
		"zstd needs a window of more than 16 MiB":        []byte(zstdMagic + "\x00\x88\x01\x00\x00"),
	} {
		path := filepath.Join(t.TempDir(), "m.zst")
		require.NoError(t, os.WriteFile(path, b, 0o600))
		f, err := Open(path)
		if err == nil {
			_, err = io.ReadAll(f)
			f.Close()
		}
		require.ErrorContains(t, err, message)
		require.Equal(t, 1, strings.Count(err.Error(), path), err)
		require.True(t, sparse.IsInput(err))
	}
}

func TestDamagedInputIsAnInputErrorThatNamesTheFile(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, b []byte) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, b, 0o600))
		return path
	}
	var raw []byte
	{
		path := filepath.Join(dir, "whole")
		f, err := os.Create(path)
		require.NoError(t, err)
		z := gzip.NewWriter(f)
		_, err = z.Write(make([]byte, 100000))
		require.NoError(t, err)
		require.NoError(t, z.Close())
		require.NoError(t, f.Close())
		raw, err = os.ReadFile(path)
		require.NoError(t, err)
	}
	bad := append([]byte(nil), raw...)
	bad[len(bad)-5] ^= 1
	for path, message := range map[string]string{
		write("half.gz", raw[:len(raw)/2]):                                                  "truncated",
		write("sum.gz", bad):                                                                "damaged gzip",
		write("few.gz", append(bytes.Clone(raw), "bytes"...)):                               "other bytes follow the end of the gzip content",
		write("one.gz", append(bytes.Clone(raw), 0x1f)):                                     "other bytes follow the end of the gzip content",
		write("second.gz", append(bytes.Clone(raw), raw[:5]...)):                            "truncated",
		write("behind.gz", append(bytes.Clone(raw), "\x00\x00other bytes behind zeros"...)): "other bytes follow the end of the gzip content",
		write("head.gz", []byte{0x1f, 0x8b}):                                                "damaged gzip header",
		dir:                                                                                 "is a directory",
		filepath.Join(dir, "none"):                                                          "no such file",
	} {
		f, err := Open(path)
		if err == nil {
			_, err = io.ReadAll(f)
			f.Close()
		}
		require.ErrorContains(t, err, message)
		require.Equal(t, 1, strings.Count(err.Error(), path), err)
		require.True(t, sparse.IsInput(err))
	}
	empty, err := Open(write("empty", nil))
	require.NoError(t, err)
	text, err := io.ReadAll(empty)
	require.NoError(t, err)
	require.Empty(t, text)
	require.NoError(t, empty.Close())
	require.Empty(t, openIn(dir))
}

func TestZeroBytesBehindGzipMembersAreSkipped(t *testing.T) {
	var one, two bytes.Buffer
	for text, b := range map[string]*bytes.Buffer{"first ": &one, "second": &two} {
		z := gzip.NewWriter(b)
		_, err := z.Write([]byte(text))
		require.NoError(t, err)
		require.NoError(t, z.Close())
	}
	for _, zeros := range []int{0, 1, 7, 20, 512, 1 << 17} {
		pad := make([]byte, zeros)
		for want, raw := range map[string][]byte{
			"first ":       slices.Concat(one.Bytes(), pad),
			"first second": slices.Concat(one.Bytes(), pad, two.Bytes(), pad),
		} {
			path := filepath.Join(t.TempDir(), "padded.gz")
			require.NoError(t, os.WriteFile(path, raw, 0o600))
			f, err := Open(path)
			require.NoError(t, err)
			got, err := io.ReadAll(f)
			require.NoError(t, err, "%d zeros", zeros)
			require.Equal(t, want, string(got))
			require.NoError(t, f.Close())
		}
	}
}

func TestAFileThatCannotBeReadIsNotLeftOpen(t *testing.T) {
	path := "/proc/self/mem" // nothing is at its beginning
	if _, err := os.Stat(path); err != nil {
		t.Skip("this system has no such file")
	}
	_, err := Open(path)
	require.EqualError(t, err, path+": input/output error")
	require.True(t, sparse.IsInput(err))
	all, err := filepath.EvalSymlinks(filepath.Dir(path))
	require.NoError(t, err)
	require.NotContains(t, openIn(all), filepath.Join(all, "mem"))
}

// openIn lists the files below dir that this process has open, if the system reports them.
func openIn(dir string) (names []string) {
	all, _ := filepath.Glob("/proc/self/fd/*")
	for _, fd := range all {
		if name, err := os.Readlink(fd); err == nil && strings.HasPrefix(name, dir) {
			names = append(names, name)
		}
	}
	return names
}

func TestAnEmptyNameIsDistinguishedFromAMissingFile(t *testing.T) {
	_, err := Open("")
	require.EqualError(t, err, "path: is empty: name a file")
	require.True(t, sparse.IsInput(err))
}

func TestTheErrorForADashNamesStandardInput(t *testing.T) {
	t.Chdir(t.TempDir())
	_, err := Open("-")
	require.EqualError(t, err, "-: no such file or directory: standard input is /dev/stdin")
	require.True(t, sparse.IsInput(err))
	require.NoError(t, os.WriteFile("-", nil, 0o600))
	f, err := Open("-")
	require.NoError(t, err)
	require.NoError(t, f.Close())
}

func TestAFullDiskIsReported(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("this system has no full device")
	}
	for name, size := range map[string]int{"when the rest is written": 1, "before": 3 << 20} {
		out, err := Create("/dev/full")
		require.NoError(t, err)
		_, err = out.Write(make([]byte, size))
		if size > 1 {
			require.EqualError(t, err, "/dev/full: cannot be written: no space left on device", name)
		}
		require.EqualError(t, out.Commit(), "/dev/full: cannot be written: no space left on device", name)
		require.Empty(t, openIn("/dev/full"))
	}
}
