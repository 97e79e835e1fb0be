package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/corpus"
)

func TestSolveWithoutFlagsListsItsAttempts(t *testing.T) {
	memplus := corpus.Testdata("memplus.mtx.gz")
	v := object(t, "solve", memplus)
	require.Equal(t, true, v["converged"])
	require.Equal(t, "direct", v["method"])
	require.Equal(t, "none", v["precond"])
	require.Equal(t, "auto", v["order"])
	attempts := v["attempts"].([]any)
	require.Len(t, attempts, 2)
	for k, a := range attempts {
		a := a.(map[string]any)
		requireKeys(t, a, "method,precond,order,iterations,residual,seconds,why")
		require.Equal(t, k == 0, a["failure"] != nil)
	}
	text := runOK(t, "solve", memplus, "--explain")
	require.Contains(t, text, "attempt 1  bicgstab with jacobi: no zero on the diagonal")
	require.Contains(t, text, "attempt 2  direct, order auto: bicgstab converges slowly: LU factors")
	require.NotContains(t, text, "NaN")
	require.NotContains(t, runOK(t, "solve", memplus), "attempt")
}

func TestSolvePlotsItsHistory(t *testing.T) {
	page := filepath.Join(t.TempDir(), "history.html")
	runOK(t, "solve", "gen:stencil:n=20", "--plot", page)
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	for _, s := range []string{"<svg", "Relative residual after each iteration", "1 cg with jacobi", "gen:stencil:n=20"} {
		require.Contains(t, string(text), s)
	}
	require.NotContains(t, string(text), "href=\"http")

	code, _, stderr := runArgs("solve", "gen:stencil:n=20", "--plot", filepath.Join(t.TempDir(), "none", "history.html"))
	require.Equal(t, exitUsage, code)
	require.Contains(t, stderr, "none")
}

func TestSolveDiagnosesWhatItCannotSolve(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	zero := write("zero.mtx", head+"3 3 3\n1 1 1\n3 2 4\n3 3 2\n")
	tall := write("tall.mtx", head+"2 1 2\n1 1 1\n2 1 2\n")
	equal := write("equal.mtx", head+"2 2 4\n1 1 1\n1 2 2\n2 1 1\n2 2 2\n")
	b := write("b.mtx", "%%MatrixMarket matrix array real general\n2 1\n1\n5\n")
	for _, c := range []struct {
		args       string
		kind, says string
	}{
		{zero, "structurally_singular", "no columns are left for 1 of its rows: 1"},
		{tall, "inconsistent", "no x satisfies all equations"},
		{equal + " --rhs " + b, "singular", "singular"},
		{"gen:stencil:n=300 --time 0.001 --tol 1e-15", "limit", "the time limit of 1ms ended"},
	} {
		out := filepath.Join(dir, "x.mtx")
		code, stdout, stderr := runArgs(append([]string{"solve", "--json", "--out", out}, strings.Fields(c.args)...)...)
		require.Equal(t, exitFailed, code, c.args)
		require.Equal(t, 1, strings.Count(stderr, "\n"), stderr)
		require.Contains(t, stderr, c.says)
		var v map[string]any
		require.NoError(t, json.Unmarshal([]byte(stdout), &v), c.args)
		d := v["diagnosis"].(map[string]any)
		require.Equal(t, c.kind, d["kind"], c.args)
		require.Contains(t, d["text"], c.says)
		require.Equal(t, false, v["converged"])
		require.NoFileExists(t, out)
	}
}
