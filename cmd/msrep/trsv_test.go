package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/corpus"
	"github.com/msrep-go/msrep/sparse/mtx"
)

func TestTrsvSolvesAndWritesTheSolution(t *testing.T) {
	bus := corpus.Testdata("1138_bus.mtx.gz")
	for _, devices := range []string{"cpu:1", "cpu:3", "sim:2"} {
		for _, flags := range []string{"--lower", "--upper", "--lower --transpose", "--upper --transpose"} {
			out := filepath.Join(t.TempDir(), "x.mtx")
			args := append([]string{"trsv", bus, "--rhs", "sin", "--devices", devices, "--out", out}, strings.Fields(flags)...)
			v := object(t, args...)
			requireKeys(t, v, "matrix,triangle,unit,op,entries,levels,devices,phases,gflops,bytes_per_nnz,residual,backward_error,x")
			requireKeys(t, v["phases"], "read_s,plan_s,solve_s,total_s")
			require.EqualValues(t, 2596, v["entries"])
			require.Less(t, v["backward_error"], 1e-14)
			require.Less(t, v["residual"], 1e-12)
			f, err := os.Open(out)
			require.NoError(t, err)
			x, err := mtx.ReadVector(t.Context(), f, out)
			require.NoError(t, f.Close())
			require.NoError(t, err)
			require.Len(t, x, 1138)
			require.InEpsilon(t, v["x"].(map[string]any)["norm2"], float64(normsOf(x).Norm2), 1e-15)
		}
	}
}

// The rows of this matrix are 2x = b, x + 4y = b for --lower; 2x + 6y = b, 4y = b for --upper.
func TestTrsvUsesTheNamedTriangleOnly(t *testing.T) {
	in := filepath.Join(t.TempDir(), "m.mtx")
	require.NoError(t, os.WriteFile(in, []byte(head+"2 2 4\n1 1 2\n1 2 6\n2 1 1\n2 2 4\n"), 0o600))
	for flags, sum := range map[string]float64{
		"--lower":                    0.5 + 0.125,
		"--upper":                    -0.25 + 0.25,
		"--lower --unit":             1 + 0,
		"--upper --unit":             -5 + 1,
		"--lower --transpose":        0.375 + 0.25,
		"--upper --transpose":        0,
		"--lower --value fp32":       0.5 + 0.125,
		"--upper --unit --transpose": 1 - 5,
	} {
		v := object(t, append([]string{"trsv", in}, strings.Fields(flags)...)...)
		require.InDelta(t, sum, v["x"].(map[string]any)["sum"], 1e-15, flags)
	}
	text := runOK(t, "trsv", in, "--lower", "--unit", "--repeat", "3", "--devices", "sim:2")
	for _, part := range []string{"lower triangle, unit diagonal, 1 entries, 2 levels", "rows 0 to 0", "rows 1 to 1", "GFLOP/s", "relative residual 0,", "times of the interpreter"} {
		require.Contains(t, text, part)
	}
}

func TestTrsvFindsTheTriangle(t *testing.T) {
	in := filepath.Join(t.TempDir(), "m.mtx")
	for entry, triangle := range map[string]string{"2 1 1": "lower", "1 2 1": "upper", "1 1 1": "lower"} {
		require.NoError(t, os.WriteFile(in, []byte(head+"2 2 3\n1 1 2\n2 2 4\n"+entry+"\n"), 0o600))
		require.Equal(t, triangle, object(t, "trsv", in)["triangle"])
	}
	require.Equal(t, "lower", object(t, "trsv", "gen:diag:n=5")["triangle"])
}

func TestTrsvRefusesBadInput(t *testing.T) {
	dir := t.TempDir()
	in, out := filepath.Join(dir, "m.mtx"), filepath.Join(dir, "x.mtx")
	require.NoError(t, os.WriteFile(in, []byte(head+"2 2 3\n1 1 2\n1 2 6\n2 1 1\n"), 0o600))
	for _, c := range []struct{ args, says string }{
		{in, "choose a triangle by --lower or --upper"},
		{in + " --lower --upper", "name one triangle"},
		{in + " --lower --out " + out, "row 1 (counted from 0)"},
		{in + " --lower --rhs random", "--rhs"},
		{in + " --lower --value fp16", "--value"},
		{in + " --lower --repeat 0", "--repeat: 0"},
		{corpus.Testdata("pyamg-edge-gradient-D.mtx.gz") + " --lower", "square"},
		{"", "arguments"},
	} {
		code, _, stderr := runArgs(append([]string{"trsv"}, strings.Fields(c.args)...)...)
		require.Equal(t, exitUsage, code, c.args)
		require.Contains(t, stderr, c.says)
	}
	require.NoFileExists(t, out)
}

func TestBenchTimesTriangularSolves(t *testing.T) {
	dir := t.TempDir()
	runOK(t, "gen", "diag", "n=9", "value=ones", "--out", filepath.Join(dir, "unit.bin"))
	for _, more := range [][]string{nil, {"--transposed"}} {
		text := runOK(t, append([]string{"bench", "trsv-peers", "--mats", dir, "--threads", "1", "--reps", "2"}, more...)...)
		require.Regexp(t, `(?m)^unit +msrep +1 .* levels=1 .*form=rows`, text)
	}
	for _, c := range []struct {
		says string
		args []string
	}{
		{"--mats", nil},
		{"--json", []string{"--mats", dir, "--json"}},
		{"--reps", []string{"--mats", dir, "--reps", "0"}},
		{"*.bin", []string{"--mats", t.TempDir()}},
	} {
		code, _, stderr := runArgs(append([]string{"bench", "trsv-peers"}, c.args...)...)
		require.Equal(t, exitUsage, code, c.says)
		require.Contains(t, stderr, c.says)
	}
	code, _, stderr := runArgs("bench", "msrep-fig6", "trsv-peers")
	require.Equal(t, exitUsage, code)
	require.Contains(t, stderr, "only experiment")
}
