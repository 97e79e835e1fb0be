package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/corpus"
	"github.com/msrep-go/msrep/sparse/mtx"
)

func TestSolveFindsTheSolutionAndWritesIt(t *testing.T) {
	out := filepath.Join(t.TempDir(), "x.mtx")
	begin := time.Now()
	v := object(t, "solve", corpus.Testdata("1138_bus.mtx.gz"), "--precond", "jacobi", "--rhs", "sin", "--tol", "1e-10", "--out", out)
	requireKeys(t, v, "converged,iterations,residual,history,phases")
	p := v["phases"].(map[string]any)
	require.LessOrEqual(t, p["total_s"], time.Since(begin).Seconds())
	sum := 0.0
	for _, phase := range []string{"read_s", "plan_s", "precond_s", "product_s", "vector_s"} {
		require.Positive(t, p[phase], phase)
		sum += p[phase].(float64)
	}
	require.InEpsilon(t, sum, p["total_s"], 1e-9)
	require.Equal(t, true, v["converged"])
	require.LessOrEqual(t, v["residual"], 1e-10)
	require.Len(t, v["history"], int(v["iterations"].(float64))+1)
	f, err := os.Open(out)
	require.NoError(t, err)
	defer f.Close()
	x, err := mtx.ReadVector(t.Context(), f, out)
	require.NoError(t, err)
	require.Len(t, x, 1138)
	require.InEpsilon(t, v["x"].(map[string]any)["norm2"], float64(normsOf(x).Norm2), 1e-15)

	for _, args := range [][]string{{"--method", "bicgstab"}, {"--method", "gmres", "--restart", "50"}, {"--precond", "block-jacobi:8"}, {"--precond", "amg"}, {"--precond", "chebyshev"}, {"--method", "minres"}, {"--method", "fgmres", "--precond", "jacobi"}, {"--method", "idr"}, {"--method", "lsmr"}} {
		text := runOK(t, append([]string{"solve", "gen:stencil:n=20", "--devices", "cpu:2"}, args...)...)
		require.Contains(t, text, ": converged")
	}
}

func TestSolveReportsTheBasisOfGMRES(t *testing.T) {
	args := []string{"solve", "gen:stencil:n=20", "--method", "gmres", "--restart", "10", "--threads", "1"}
	bytes := map[string]float64{}
	for _, basis := range []string{"float64", "int32"} {
		v, _ := object(t, append(args, "--basis", basis)...)["basis"].(map[string]any)
		require.Equal(t, basis, v["numbers"])
		bytes[basis] = v["bytes"].(float64)
		require.Contains(t, runOK(t, append(args, "--basis", basis)...), "basis   "+basis+", ")
	}
	require.Less(t, bytes["int32"], bytes["float64"])
	require.NotContains(t, object(t, "solve", "gen:stencil:n=9", "--method", "cg"), "basis")
}

func TestSolveThatFailsPrintsItsResultAndExitsWithOne(t *testing.T) {
	in, out := filepath.Join(t.TempDir(), "indefinite.mtx"), filepath.Join(t.TempDir(), "x.mtx")
	require.NoError(t, os.WriteFile(in, []byte(head+"2 2 2\n1 1 1\n2 2 -2\n"), 0o600))
	var stdout, stderr bytes.Buffer
	code := run(context.Background(), []string{"solve", in, "--method", "cg", "--json", "--out", out}, &stdout, &stderr)
	require.Equal(t, exitFailed, code)
	require.Contains(t, stderr.String(), "msrep solve: cg: breakdown after")
	require.Equal(t, 1, strings.Count(stderr.String(), "\n"))
	var v map[string]any
	require.NoError(t, json.Unmarshal(stdout.Bytes(), &v))
	require.Equal(t, false, v["converged"])
	require.Contains(t, v["failure"], "not positive definite")
	require.NoFileExists(t, out)
}

func TestSolveByLSMRTakesRectangularMatrices(t *testing.T) {
	in, rhs, out := filepath.Join(t.TempDir(), "wide.mtx"), filepath.Join(t.TempDir(), "b.mtx"), filepath.Join(t.TempDir(), "x.mtx")
	require.NoError(t, os.WriteFile(in, []byte(head+"2 3 3\n1 1 1\n1 2 1\n2 3 2\n"), 0o600))
	v := object(t, "solve", in, "--method", "lsmr", "--out", out)
	require.Equal(t, true, v["converged"])
	require.InDelta(t, 1.5, v["x"].(map[string]any)["sum"], 1e-7, "the shortest solution")
	require.FileExists(t, out)

	// Two equations, x = 1 and x = 3: no solution.
	require.NoError(t, os.WriteFile(in, []byte(head+"2 1 2\n1 1 1\n2 1 1\n"), 0o600))
	require.NoError(t, os.WriteFile(rhs, []byte("%%MatrixMarket matrix array real general\n2 1\n1\n3\n"), 0o600))
	require.NoError(t, os.Remove(out))
	var stdout, stderr bytes.Buffer
	code := run(context.Background(), []string{"solve", in, "--method", "lsmr", "--rhs", rhs, "--json", "--out", out}, &stdout, &stderr)
	require.Equal(t, exitFailed, code)
	require.Contains(t, stderr.String(), "msrep solve: no x satisfies all equations; the least residual is 0.447\n")
	require.NoError(t, json.Unmarshal(stdout.Bytes(), &v))
	require.Equal(t, false, v["converged"])
	require.InDelta(t, 2, v["x"].(map[string]any)["sum"], 1e-12)
	require.NoFileExists(t, out)
}

func TestSolveRefusesWrongFlags(t *testing.T) {
	for _, c := range []struct{ args, says string }{
		{"gen:diag:n=3 --method lu", "--method: \"lu\""},
		{"gen:diag:n=3 --precond lu", "--precond: \"lu\""},
		{"gen:diag:n=3 --method direct --precond ilu", "--precond: \"ilu\": direct takes no"},
		{"gen:diag:n=3 --order odd", "--order: \"odd\""},
		{"gen:diag:n=3 --time -1", "--time: -1"},
		{"gen:diag:n=3 --precond block-jacobi:0", "block-jacobi:1 to"},
		{"gen:diag:n=3 --tol 0", "--tol: 0"},
		{"gen:diag:n=3 --max-iter -1", "--max-iter: -1"},
		{"gen:diag:n=3 --restart 0", "--restart: 0"},
		{"gen:diag:n=3 --basis float32", "--basis: \"float32\" is not known: use auto, float64 or int32"},
		{"gen:diag:n=3 --basis int32 --method gmres --devices sim:1", "basis: \"int32\" takes vectors in host memory"},
		{"gen:random:rows=3,cols=4,nnz=5 --method cg", "3 x 4: cg needs a square matrix"},
		{"gen:diag:n=3 --rhs nowhere.mtx", "nowhere.mtx"},
		{"", "arguments: 0"},
	} {
		var stdout, stderr bytes.Buffer
		code := run(context.Background(), append([]string{"solve"}, strings.Fields(c.args)...), &stdout, &stderr)
		require.Equal(t, exitUsage, code, c.args)
		require.Contains(t, stderr.String(), c.says)
	}
}

func TestDeterministicProductsHaveTheSameBitsOnAnyDevices(t *testing.T) {
	var first any
	for _, devices := range []string{"cpu:1", "cpu:3", "sim:2"} {
		v := object(t, "spmv", corpus.Testdata("gre_343.mtx.gz"), "--x", "sin", "--deterministic", "--devices", devices)
		if first == nil {
			first = v["y"]
		}
		require.Equal(t, first, v["y"], devices)
	}
}
