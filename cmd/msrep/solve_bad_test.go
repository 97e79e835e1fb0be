package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/cluster"
	"github.com/msrep-go/msrep/internal/corpus"
)

func TestThePageOfSolveReplacesNoOtherFile(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	matrix := write("a.mtx", head+"2 2 2\n1 1 1\n2 2 2\n")
	b := write("b.mtx", "%%MatrixMarket matrix array real general\n2 1\n1\n5\n")
	link := filepath.Join(dir, "link.html")
	require.NoError(t, os.Symlink(matrix, link))
	x := filepath.Join(dir, "x.mtx")
	for says, args := range map[string][]string{
		"is the matrix":      {matrix, "--plot", matrix},
		"link.html: is the ": {matrix, "--plot", link},
		"is b":               {matrix, "--rhs", b, "--plot", b},
		"is the file for x":  {matrix, "--out", x, "--plot", filepath.Join(dir, ".", "x.mtx")},
	} {
		before, err := os.ReadFile(matrix)
		require.NoError(t, err)
		code, stdout, stderr := runArgs(append([]string{"solve"}, args...)...)
		require.Equal(t, exitUsage, code, says)
		require.Empty(t, stdout)
		require.Contains(t, stderr, says)
		require.Equal(t, 1, strings.Count(stderr, "\n"))
		after, err := os.ReadFile(matrix)
		require.NoError(t, err)
		require.Equal(t, string(before), string(after))
		require.NoFileExists(t, x)
	}
}

func TestSolveTakesTimesOfAnySize(t *testing.T) {
	code, _, stderr := runArgs("solve", "gen:stencil:n=300", "--time", "1e-10")
	require.Equal(t, exitFailed, code)
	require.Contains(t, stderr, "the time limit of 1ns ended")
	for _, bad := range []string{"9223372036.8547758", "1e300", "nan", "-1"} {
		code, _, stderr := runArgs("solve", "gen:diag:n=4", "--time", bad)
		require.Equal(t, exitUsage, code, bad)
		require.Contains(t, stderr, "use a number of seconds", bad)
	}
}

func TestSolveOfZeroNamesNoMethod(t *testing.T) {
	b := filepath.Join(t.TempDir(), "b.mtx")
	require.NoError(t, os.WriteFile(b, []byte("%%MatrixMarket matrix array real general\n2 1\n0\n0\n"), 0o600))
	v := object(t, "solve", "gen:diag:n=2", "--rhs", b)
	require.Equal(t, "none", v["method"])
	require.Equal(t, 0.0, v["residual"])
	require.Contains(t, runOK(t, "solve", "gen:diag:n=2", "--rhs", b, "--explain"), "none, preconditioner none")
}

// A run of solve ends with one JSON object, or none and a line on stderr, whatever fails.
func TestSolveOverRanksSaysWhatFailed(t *testing.T) {
	defer func(f func() (rankComm, error)) { startRanks = f }(startRanks)
	startRanks = func() (rankComm, error) { return alone{cluster.Local(1)[0]}, nil }
	gre := corpus.Testdata("gre_343.mtx.gz")
	singular := filepath.Join(t.TempDir(), "singular.mtx")
	require.NoError(t, os.WriteFile(singular, []byte(head+"2 2 2\n1 1 1\n2 1 2\n"), 0o600))
	t.Setenv("PMI_RANK", "0")
	for _, c := range []struct {
		args       string
		kind, says string
	}{
		{singular + " --method lsmr", "inconsistent", "no x satisfies all equations"},
		{"gen:stencil:n=300 --method cg --tol 1e-15 --time 1e-9", "limit", "the time limit of 1ns ended cg"},
		{"gen:stencil:n=30 --method cg --max-iter 1", "limit", "not converged after 1 iterations"},
	} {
		code, stdout, stderr := runArgs(append([]string{"solve", "--json"}, strings.Fields(c.args)...)...)
		require.Equal(t, exitFailed, code, c.args)
		require.Equal(t, 1, strings.Count(stderr, "\n"), stderr)
		require.Contains(t, stderr, c.says)
		var v map[string]any
		require.NoError(t, json.Unmarshal([]byte(stdout), &v), c.args)
		require.Contains(t, v, "diagnosis", c.args)
		require.Equal(t, c.kind, v["diagnosis"].(map[string]any)["kind"], c.args)
		require.Equal(t, false, v["converged"])
	}
	code, _, stderr := runArgs("solve", gre, "--time", "1e-9")
	require.Equal(t, exitFailed, code)
	require.Contains(t, stderr, "the time limit of 1ns ended gmres with ilut")

	v := object(t, "solve", "gen:stencil:n=30", "--order", "rcm")
	require.Equal(t, []any{"gmres", "ilut", "rcm"}, []any{v["method"], v["precond"], v["order"]})
	for _, method := range []string{"cg", "minres", "bicgstab", "gmres", "fgmres", "idr"} {
		for _, precond := range []string{"none", "jacobi", "block-jacobi:3", "ilu", "ic", "ilut"} {
			v := object(t, "solve", "gen:stencil:n=12", "--method", method, "--precond", precond)
			require.Equal(t, true, v["converged"], "%s with %s", method, precond)
		}
	}
}

// --basis is for methods with a basis.
func TestSolveRefusesABasisOfMethodsWithoutOne(t *testing.T) {
	code, stdout, stderr := runArgs("solve", "gen:stencil:n=9", "--method", "cg", "--basis", "int32")
	require.Equal(t, 2, code)
	require.Empty(t, stdout)
	require.Contains(t, stderr, "--basis: cg has no basis")
}
