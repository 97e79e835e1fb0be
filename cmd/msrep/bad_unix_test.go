//go:build unix

package main

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/corpus"
)

// badFile is a file that must be refused, and a part of the message.
type badFile struct{ name, content, message string }

var badFiles = []badFile{
	{"empty.mtx", "", "empty"},
	{"banner.mtx", "1 1 1\n1 1 1\n", "%%MatrixMarket"},
	{"word.mtx", "%%MatrixMarket matrix coordinate reel general\n1 1 1\n1 1 1\n", ":1:"},
	{"symmetry.mtx", "%%MatrixMarket matrix coordinate real generally\n1 1 1\n1 1 1\n", ":1:"},
	{"complex.mtx", "%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 0\n", "complex"},
	{"hermitian.mtx", "%%MatrixMarket matrix coordinate complex hermitian\n1 1 1\n1 1 1 0\n", "complex"},
	{"nosize.mtx", head + "% only comments\n", "size"},
	{"nan-size.mtx", head + "NaN 3 1\n1 1 1\n", ":2:"},
	{"two-sizes.mtx", head + "3 3\n1 1 1\n", ":2:"},
	{"negative.mtx", head + "-3 3 1\n1 1 1\n", ":2:"},
	{"negative-count.mtx", head + "3 3 -1\n", ":2:"},
	{"fraction.mtx", head + "3.5 3 1\n1 1 1\n", ":2:"},
	{"huge-rows.mtx", head + "1099511627776 3 1\n1 1 1\n", "1099511627776"},
	{"huge-cols.mtx", head + "3 1099511627776 1\n1 1 1\n", "1099511627776"},
	{"many-rows.mtx", head + "2000000000 3 1\n1 1 1\n", "2000000000"},
	{"overflow.mtx", head + "99999999999999999999 3 1\n1 1 1\n", ":2:"},
	{"huge-count.mtx", head + "3 3 1099511627776\n1 1 1\n", "1099511627776"},
	{"few.mtx", head + "3 3 2\n1 1 1\n", "1 of the 2"},
	{"more.mtx", head + "3 3 1\n1 1 1\n2 2 1\n", ":4:"},
	{"row0.mtx", head + "3 3 1\n0 1 1\n", "start at 1"},
	{"col0.mtx", head + "3 3 2\n1 1 1\n1 0 1\n", ":4:"},
	{"row4.mtx", head + "3 3 1\n4 1 1\n", ":3:"},
	{"col4.mtx", head + "3 3 1\n1 4 1\n", ":3:"},
	{"minus.mtx", head + "3 3 1\n-1 1 1\n", ":3:"},
	{"word-index.mtx", head + "3 3 1\none 1 1\n", ":3:"},
	{"word-value.mtx", head + "3 3 1\n1 1 x\n", ":3:"},
	{"no-value.mtx", head + "3 3 1\n1 1\n", ":3:"},
	{"extra.mtx", head + "3 3 1\n1 1 1 1\n", ":3:"},
	{"int.mtx", strings.Replace(head, "real", "integer", 1) + "3 3 1\n1 1 1.5\n", ":3:"},
	{"pattern-value.mtx", strings.Replace(head, "real", "pattern", 1) + "3 3 1\n1 1 1.5\n", ":3:"},
	{"rect-symmetric.mtx", strings.Replace(head, "general", "symmetric", 1) + "3 4 1\n1 1 1\n", "square"},
	{"skew.mtx", strings.Replace(head, "general", "skew-symmetric", 1) + "3 3 1\n1 1 1\n", ":3:"},
	{"array.mtx", "%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n", "3 of the 4"},
	{"array-pattern.mtx", "%%MatrixMarket matrix array pattern general\n2 2\n", ":1:"},
	{"binary.mtx", head + "3 3 1\n\x00\x01\x02\n", ":3:"},
	{"one-id.txt", "0 1\n2\n", ":2:"},
	{"negative.txt", "0 1\n-1 2\n", ":2:"},
	{"words.txt", "a b\n", ":1:"},
	{"huge-id.txt", "0 1\n0 2000000000\n", "2000000000"},
	{"short.rb", "title\n 1 1 1\n", ""},
	{"title.rua", strings.Repeat("x", 80) + "\n", ""},
	{"no.npz", "this is not a zip archive", ""},
	{"cut.npz", "PK\x03\x04\x14\x00", ""},
	{"magic.msr", "this is not a matrix", ""},
	{"cut.msr", "MSREP", ""},
	{"cut.mtx.gz", "\x1f\x8b\x08", "gzip"},
	{"matrix.xyz", "whatever", ".mtx"},
	{"empty.bin", "", "empty.bin: "},
	{"head.bin", bin(3, 3)[:16], "ends after 16 bytes"},
	{"cut.bin", bin(2, 2, 0, 0, 0, 0)[:47], "ends after 47 bytes, its first numbers ask for"},
	{"negative.bin", bin(-1, 3, 0), "-1 rows"},
	{"rows.bin", bin(1<<62, 3, 0), "4611686018427387904 rows"},
	{"columns.bin", bin(1, 1<<31, 0, 0), "2147483648 columns"},
	{"few.bin", bin(1<<30, 3, 0, 0), "1073741824 rows for 0 entries"},
	{"count.bin", bin(1, 3, 1<<62, 0), "4611686018427387904 nonzeros"},
	{"entries.bin", bin(1, 3, 1<<57, 0), "to read them takes at least"},
	{"first.bin", bin(2, 3, 1, 1, 1, 1) + entries(0), "row pointers run from 1 to 1"},
	{"last.bin", bin(1, 3, 1, 0, 2) + entries(0), "row pointers run from 0 to 2"},
	{"falls.bin", bin(3, 3, 2, 0, 2, 1, 2) + entries(0, 1), "row pointer 2 falls from 2 to 1"},
	{"outside.bin", bin(1, 3, 1, 0, 1) + entries(3), "column index 3"},
	{"below.bin", bin(1, 3, 1, 0, 1) + entries(-1), "column index -1"},
	{"more.bin", bin(1, 3, 1, 0, 1) + entries(0) + "x", "goes on after"},
}

// bin returns the leading numbers of a binary CSR file, up to the row pointers.
func bin(numbers ...int64) string {
	b, _ := binary.Append(nil, binary.LittleEndian, numbers)
	return string(b)
}

// entries returns the column indices that follow the row pointers.
func entries(columns ...int32) string {
	b, _ := binary.Append(nil, binary.LittleEndian, columns)
	b, _ = binary.Append(b, binary.LittleEndian, make([]float64, len(columns)))
	return string(b)
}

func TestBadFilesAreRefusedInOneLineWithExitCode2(t *testing.T) {
	dir := t.TempDir()
	for _, f := range badFiles {
		path := filepath.Join(dir, f.name)
		require.NoError(t, os.WriteFile(path, []byte(f.content), 0o644))
		for _, command := range []string{"spmv", "info"} {
			require.Contains(t, expectRefusal(t, f.message, command, path), f.name)
		}
	}
}

func TestDamagedGzipIsRefused(t *testing.T) {
	dir := t.TempDir()
	whole, err := os.ReadFile(corpus.Testdata("1138_bus.mtx.gz"))
	require.NoError(t, err)
	path := filepath.Join(dir, "half.mtx.gz")
	require.NoError(t, os.WriteFile(path, whole[:len(whole)/2], 0o644))
	expectRefusal(t, "truncated", "spmv", path)

	flipped := bytes.Clone(whole)
	flipped[len(flipped)/2] ^= 0x55
	path = filepath.Join(dir, "flipped.mtx.gz")
	require.NoError(t, os.WriteFile(path, flipped, 0o644))
	expectRefusal(t, path, "spmv", path)

	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err = z.Write([]byte(head + "3 3 1\n1 9 1\n"))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	path = filepath.Join(dir, "index.mtx.gz")
	require.NoError(t, os.WriteFile(path, b.Bytes(), 0o644))
	expectRefusal(t, ":3:", "spmv", path)
}

func TestWrongUsageIsRefusedInOneLineWithExitCode2(t *testing.T) {
	dir := t.TempDir()
	good := corpus.Testdata("can_144.mtx.gz")
	vec := filepath.Join(dir, "x.mtx")
	require.NoError(t, os.WriteFile(vec, []byte("%%MatrixMarket matrix array real general\n2 1\n1\n2\n"), 0o644))
	for _, c := range []struct {
		message string
		args    []string
	}{
		{"no command is given; use one of spmv, ", nil},
		{"is not a command", []string{"spmw"}},
		{"gen: no generator is named", []string{"info", "gen:"}},
		{"arguments", []string{"spmv"}},
		{"arguments", []string{"spmv", good, good}},
		{"-alhpa", []string{"spmv", good, "--alhpa", "1"}},
		{"alpha", []string{"spmv", good, "--alpha", "x"}},
		{"an empty argument", []string{"spmv", ""}},
		{"directory", []string{"spmv", dir}},
		{"no such file", []string{"spmv", filepath.Join(dir, "none.mtx")}},
		{"no such file", []string{"info", filepath.Join(dir, "none", "none.mtx.gz")}},
		{"144", []string{"spmv", good, "--x", vec}},
		{"no such file", []string{"spmv", good, "--x", filepath.Join(dir, "none")}},
		{"seed", []string{"spmv", good, "--x", "random"}},
		{"seed", []string{"spmv", good, "--y", "random:-1"}},
		{"--format", []string{"spmv", good, "--format", "cxr"}},
		{"--precision", []string{"spmv", good, "--precision", "cpms2:3"}},
		{"precision", []string{"spmv", good, "--precision", "cpms2:1", "--value", "fp32"}},
		{"precision", []string{"spmv", good, "--precision", "cpms2:1", "--format", "coo"}},
		{"NVIDIA", []string{"spmv", good, "--kernel", "cusparse"}},
		{"one number", []string{"spmv", good, "--threads", "1,2"}},
		{"strategy", []string{"spmv", good, "--deterministic", "--strategy", "baseline"}},
		{"--strategy", []string{"spmv", good, "--strategy", "best"}},
		{"--value", []string{"spmv", good, "--value", "fp16"}},
		{"--repeat", []string{"spmv", good, "--repeat", "0"}},
		{"--repeat", []string{"spmv", good, "--repeat", "9223372036854775807"}},
		{"--threads", []string{"spmv", good, "--threads", "-1"}},
		{"--threads", []string{"info", good, "--threads", "100000000"}},
		{"devices", []string{"spmv", good, "--devices", "gpu"}},
		{"cpu:0", []string{"spmv", good, "--devices", "cpu:0"}},
		{"cpu:x", []string{"spmv", good, "--devices", "cpu:x"}},
		{"cuda:99", []string{"spmv", good, "--devices", "cuda:99"}},
		{"no such file", []string{"spmv", good, "--out", filepath.Join(dir, "none", "y.mtx")}},
		{"directory", []string{"spmv", good, "--out", dir}},
		{"name a file for the vector", []string{"spmv", good, "--out", "-"}},
		{"y.npz: .npz is no format", []string{"spmv", good, "--out", filepath.Join(dir, "y.npz")}},
		{"must end in one of .csv .tsv .mtx", []string{"pagerank", good, "--out", filepath.Join(dir, "y.MSR.gz")}},
		{"must end in one of .mtx .txt .npy", []string{"solve", good, "--out", filepath.Join(dir, "y.msr")}},
		{"x.html: .html is no format", []string{"solve", good, "--out", filepath.Join(dir, "x.html")}},
		{"x.html: .html is no format", []string{"trsv", good, "--out", filepath.Join(dir, "x.html")}},
		{".csv is no format", []string{"spmv", good, "--out", filepath.Join(dir, "y.csv.gz")}},
		{"must end in one of .mtx .txt,", []string{"eig", good, "--out-vectors", filepath.Join(dir, "v.npy")}},
		{".png is no format", []string{"svd", good, "--out-u", filepath.Join(dir, "u.png")}},
		{"arguments", []string{"convert", good}},
		{".mtx", []string{"convert", good, filepath.Join(dir, "m.xyz")}},
		{"no such file", []string{"convert", filepath.Join(dir, "none.mtx"), filepath.Join(dir, "m.msr")}},
		{"--out", []string{"gen", "stencil"}},
		{"is unknown", []string{"gen", "stencle"}}, // --out would not make it valid
		{"n=0", []string{"gen", "stencil", "n=0"}},
		{"colons", []string{"gen", "stencil:n=3", "--out", filepath.Join(dir, "m.msr")}},
		{"stencil", []string{"gen", "stencle", "--out", filepath.Join(dir, "m.msr")}},
		{"n=0", []string{"gen", "stencil", "n=0", "--out", filepath.Join(dir, "m.msr")}},
		{"the limit is", []string{"gen", "dense", "rows=100M", "cols=1M", "--out", filepath.Join(dir, "m.msr")}},
		{"damping", []string{"pagerank", good, "--damping", "1.85"}},
		{"commas", []string{"gen", "dense", "rows=2,cols=2", "--out", filepath.Join(dir, "m.msr")}},
		{"takes none", []string{"topo", "extra"}},
		{"multiple of 64", []string{"pagerank", good, "--layout", "interleaved:100"}},
		{"--max-time", []string{"bench", "all", "--max-time", "-1s"}},
		{"--interpreted", []string{"bench", "pellr", "--interpreted", "-1"}},
		{"is not a folder", []string{"bench", "msrep-fig22", "--mats", filepath.Join(dir, "none")}},
		{"*.bin", []string{"bench", "cpu-peers", "--mats", dir}},
		{"--method", []string{"solve", good, "--method", "luck"}},
		{"--restart", []string{"solve", "none.mtx", "--restart", "10001"}}, // before the file is read
		{"list", []string{"bench", "all", "list"}},
		{"name one command", []string{"help", "spmv", "solve"}},
		{"none", []string{"topo", "--sysfs", filepath.Join(dir, "none")}},
	} {
		expectRefusal(t, c.message, c.args...)
	}
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	require.NoError(t, err)
	require.Equal(t, []string{vec}, left, "no output file may stay behind")
}

func TestAFileWithoutPermissionIsRefused(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "m.mtx")
	require.NoError(t, os.WriteFile(path, []byte(head+"1 1 1\n1 1 1\n"), 0o000))
	user := "user"
	if os.Getuid() == 0 { // root may read every file
		user = "nobody"
		require.NoError(t, os.Chmod(filepath.Dir(dir), 0o755))
	}
	out, err := process(t.Context(), user, "spmv", path).CombinedOutput()
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit, string(out))
	require.Equal(t, exitUsage, exit.ExitCode())
	require.Equal(t, "msrep spmv: "+path+": permission denied\n", string(out))
}

func TestFlagErrorsAreFoundBeforeTheMatrixIsRead(t *testing.T) {
	dir := t.TempDir()
	big := filepath.Join(dir, "matrix.mtx") // a pipe without a writer: opening it blocks
	require.NoError(t, syscall.Mkfifo(big, 0o600))
	expectRefusal(t, "m.xyz", "convert", big, filepath.Join(dir, "m.xyz"))
	expectRefusal(t, "no such file", "spmv", big, "--out", filepath.Join(dir, "none", "y.mtx"))
	expectRefusal(t, "no such file", "spmv", big, "--x", filepath.Join(dir, "none"))
	expectRefusal(t, "no such file", "convert", big, filepath.Join(dir, "none", "y.msr"))
}

func TestTheVectorDoesNotReplaceTheResult(t *testing.T) {
	path := filepath.Join(t.TempDir(), "y.mtx")
	printed, err := os.Create(path)
	require.NoError(t, err)
	defer printed.Close()
	for _, out := range []string{path, "/dev/stdout"} {
		cmd := process(t.Context(), "user", "spmv", "gen:diag:n=3", "--out", out)
		var stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = printed, &stderr
		var exit *exec.ExitError
		require.ErrorAs(t, cmd.Run(), &exit)
		require.Equal(t, exitUsage, exit.ExitCode())
		require.Equal(t, "msrep spmv: --out: "+out+": is where the result is printed: name another file for the vector\n", stderr.String())
	}
	require.NoError(t, process(t.Context(), "user", "spmv", "gen:diag:n=3", "--out", os.DevNull).Run(), "both go to /dev/null")
}

func TestTheVectorMayGoIntoAPipe(t *testing.T) {
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	cmd := process(t.Context(), "user", "spmv", "gen:stencil:n=2", "--x", "zeros", "--out", "/dev/fd/3") // like >(...) in a shell
	cmd.ExtraFiles = []*os.File{w}
	stdout, err := cmd.Output()
	require.NoError(t, err)
	require.NoError(t, w.Close())
	vector, err := io.ReadAll(r)
	require.NoError(t, err)
	require.Equal(t, "%%MatrixMarket matrix array real general\n4 1\n0\n0\n0\n0\n", string(vector))
	require.Contains(t, string(stdout), "norm1 0")

	cmd = process(t.Context(), "user", "spmv", "gen:stencil:n=2", "--out", "/dev/stdout")
	stdout, err = cmd.Output() // through a pipe
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit)
	require.Equal(t, exitUsage, exit.ExitCode())
	require.Empty(t, stdout)
	require.Contains(t, string(exit.Stderr), "is where the result is printed")
}

func TestAnInterruptedProcessEndsSoonAndLeavesNoFile(t *testing.T) {
	dir := t.TempDir()
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		cmd := process(t.Context(), "user", "spmv", "gen:stencil:dims=2,n=300", "--repeat", "1000000", "--out", filepath.Join(dir, "y.mtx"))
		require.NoError(t, cmd.Start())
		require.Eventually(t, func() bool { return writesIn(cmd.Process.Pid, dir) }, 20*time.Second, time.Millisecond, "it has started when its output file is open")
		require.NoError(t, cmd.Process.Signal(sig))
		start := time.Now()
		var exit *exec.ExitError
		require.ErrorAs(t, cmd.Wait(), &exit)
		require.Equal(t, exitFailed, exit.ExitCode(), "%v", sig)
		require.Less(t, time.Since(start), 10*time.Second, "it takes a second on an idle machine")
		files, err := os.ReadDir(dir)
		require.NoError(t, err)
		require.Empty(t, files, "%v", sig)
	}
}

// writesIn reports whether a process has an output file open in dir: a file there, or one without a name yet.
func writesIn(pid int, dir string) bool {
	if files, err := os.ReadDir(dir); err != nil || len(files) > 0 {
		return err == nil
	}
	open, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	for _, fd := range open {
		if name, err := os.Readlink(fd); err == nil && strings.HasPrefix(name, dir+"/") {
			return true
		}
	}
	return false
}

func TestAnInterruptEndsWritingAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe.mtx")
	require.NoError(t, syscall.Mkfifo(path, 0o600))
	cmd := process(t.Context(), "user", "convert", "gen:diag:n=1M", path)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	require.NoError(t, cmd.Start())
	pipe, err := os.Open(path) // waits for the writer
	require.NoError(t, err)
	defer pipe.Close()
	buf := make([]byte, 1<<16)
	_, err = io.ReadFull(pipe, buf)
	require.NoError(t, err)
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	for err == nil { // reading all of it takes more than half a second
		_, err = pipe.Read(buf)
		time.Sleep(time.Millisecond)
	}
	require.Equal(t, io.EOF, err)
	require.Error(t, cmd.Wait())
	require.Equal(t, "msrep convert: interrupted\n", stderr.String(), "the message is not that of main, which ends a command that ignores the context")
}
