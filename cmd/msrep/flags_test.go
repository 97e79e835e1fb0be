package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/corpus"
	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/sparse"
)

func TestFaultsOfFormatsNameTheFlagAndWhatDevicesHave(t *testing.T) {
	bus := corpus.Testdata("1138_bus.mtx.gz")
	for message, args := range map[string][]string{
		`--format: "foo" is not known: use one of auto, csr, `:              {"--format", "foo"},
		`hyb-mean, sell; on CPU devices also diagonals, `:                   {"--format", "foo"},
		`, blocks; on GPUs also csr-merge, streamed, csrs, csrv`:            {"--format", "foo"},
		"--format: diagonals does not suit " + bus + ": no diagonals: the ": {"--format", "diagonals"},
		"--format: blocks does not suit " + bus + ": ":                      {"--format", "blocks"},
	} {
		var out, stderr bytes.Buffer
		require.Equal(t, exitUsage, run(context.Background(), append([]string{"spmv", bus}, args...), &out, &stderr), "%q", args)
		require.Contains(t, stderr.String(), message)
	}
}

func TestCommandsThatOpenNoDevicesCheckTheSyntaxOfDevices(t *testing.T) {
	out := filepath.Join(t.TempDir(), "m.msr")
	for _, args := range [][]string{{"gen", "diag", "n=3", "--out", out}, {"convert", "gen:diag:n=3", out}, {"info", "gen:diag:n=3"}, {"version"}} {
		for _, good := range []string{"auto", "cpu", "cpu:20", "cuda", "cuda:0,12", "sim:2", "sim:dgx1", "sim:summit"} {
			runOK(t, append(args, "--devices", good)...)
		}
		for _, bad := range []string{"foo", "cpu:", "cpu:0", "cpu:x", "cuda:", "cuda:1,", "sim", "sim:0", "auto:1"} {
			var stdout, stderr bytes.Buffer
			require.Equal(t, exitUsage, run(context.Background(), append(args, "--devices", bad), &stdout, &stderr), "%q", bad)
			require.Contains(t, stderr.String(), `--devices: "`+bad+`" is not known: use auto, cpu, `)
		}
	}
}

func TestAFileMayHaveTheNameOfAFlag(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("x", []byte("x"), 0o600))
	for _, args := range [][]string{{"spmv", "x"}, {"spmv", "gen:diag:n=2", "--y", "x"}} {
		var out, stderr bytes.Buffer
		require.Equal(t, exitUsage, run(context.Background(), args, &out, &stderr))
		require.Regexp(t, "^msrep spmv: x:", stderr.String())
	}
}

func TestFaultsOfFlagsNameTheFlagAsDocumentedAndWhatItTakes(t *testing.T) {
	for message, args := range map[string][]string{
		"there is no flag --repaet":                            {"spmv", "m.mtx", "-repaet"},
		"--repeat needs a value":                               {"spmv", "m.mtx", "-repeat"},
		`--repeat: "x": use a whole number`:                    {"spmv", "m.mtx", "--repeat", "x"},
		`--alpha: "\" for flag -x: ": use a number`:            {"spmv", "m.mtx", "--alpha", `" for flag -x: `},
		`--json: "maybe": use true or false`:                   {"spmv", "m.mtx", "--json=maybe"},
		`--threads: "1,x": use a whole number`:                 {"spmv", "m.mtx", "--threads", "1,x"},
		`--max-time: "1": use a time such as 300ms or 1.5s`:    {"bench", "all", "--max-time", "1"},
		"--alpha: 1e+300: beyond the range of fp32":            {"spmv", "m.mtx", "--value", "fp32", "--alpha", "1e300"},
		`--repeat: "99999999999999999999": value out of range`: {"spmv", "m.mtx", "--repeat", "99999999999999999999"},
		"--out: is empty: give a value or leave it out":        {"spmv", "m.mtx", "--out", ""},
		`--numa: "no" is not known: use auto, on or off`:       {"topo", "--numa", "no"},
		"arguments: 1 given, it takes none":                    {"version", "x"},
		"bad flag syntax: ---x":                                {"spmv", "m.mtx", "---x"},
		"there is no flag --a; b (see msrep topo --help)":      {"topo", "--a\nb"},
	} {
		var out, stderr bytes.Buffer
		require.Equal(t, exitUsage, run(context.Background(), args, &out, &stderr), "%q", args)
		require.Empty(t, out.String())
		require.Contains(t, stderr.String(), message)
	}
}

func TestTheLastValueOfAFlagCounts(t *testing.T) {
	y := object(t, "spmv", "gen:diag:n=3,value=ones", "--alpha", "5", "--threads", "1", "--alpha", "2", "--threads", "2")["y"]
	require.EqualValues(t, 6, y.(map[string]any)["sum"])
	require.Contains(t, runOK(t, "help"), "given twice, the last value counts")
}

func TestTheResultDoesNotReplaceTheMatrix(t *testing.T) {
	dir := t.TempDir()
	m, link := filepath.Join(dir, "m.mtx"), filepath.Join(dir, "link.mtx")
	runOK(t, "gen", "diag", "n=3", "value=ones", "--out", m)
	require.NoError(t, os.Symlink(m, link))
	before, err := os.ReadFile(m)
	require.NoError(t, err)
	for _, cmd := range []string{"spmv", "solve", "pagerank", "trsv"} {
		var out, stderr bytes.Buffer
		require.Equal(t, exitUsage, run(context.Background(), []string{cmd, m, "--out", link}, &out, &stderr), cmd)
		require.Contains(t, stderr.String(), "--out: "+link+": is the matrix", cmd)
		after, err := os.ReadFile(m)
		require.NoError(t, err)
		require.Equal(t, before, after, cmd)
	}
	y := filepath.Join(dir, "y.mtx")
	runOK(t, "spmv", m, "--out", y)
	runOK(t, "spmv", m, "--x", y, "--out", y) // a vector may replace an older one
}

// full is a writer without space.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

func TestHelpThatCannotBeWrittenIsAFailure(t *testing.T) {
	for _, args := range [][]string{{"help"}, {"--help"}, {"help", "spmv"}, {"spmv", "--help"}} {
		var stderr bytes.Buffer
		require.Equal(t, exitFailed, run(context.Background(), args, full{}, &stderr), args)
		require.Contains(t, stderr.String(), syscall.ENOSPC.Error())
		require.Equal(t, 1, strings.Count(stderr.String(), "\n"))
	}
}

func TestMissingMemoryIsAnInputError(t *testing.T) {
	defer mem.SetAvailable(0)()
	for _, args := range [][]string{
		{"spmv", "gen:dense:rows=1,cols=3M", "--x", "ones"},
		{"solve", "gen:diag:n=3M"},
	} {
		code, _, stderr := runArgs(args...)
		require.Equal(t, exitUsage, code, stderr)
		require.Equal(t, 1, strings.Count(stderr, "\n"), stderr)
	}
	_, err := newVector[float32]("--y", 4<<20)
	require.EqualError(t, err, "--y: a vector of 4194304 elements takes 16777216 bytes, 0 are available")
	_, err = convert[float64]("--out", make([]float32, 2<<20))
	require.True(t, sparse.IsInput(err), "%v", err)
	require.Equal(t, exitUsage, exitCode(&kernels.DeviceError{Device: "sim:0", Call: "alloc", Err: kernels.ErrOutOfMemory}))
	require.Equal(t, exitFailed, exitCode(kernels.ErrClosed))
}
