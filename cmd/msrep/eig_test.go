package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/corpus"
	"github.com/msrep-go/msrep/sparse/matio"
)

const eigenReportKeys = "matrix,method,which,k,values,residuals,norm,tol,converged,iterations,products,restarts,copies,phases,devices"

func TestEigFindsEigenvaluesAndWritesVectors(t *testing.T) {
	bus := corpus.Testdata("1138_bus.mtx.gz")
	out := filepath.Join(t.TempDir(), "v.mtx")
	// By numpy.linalg.eigvalsh.
	for flags, first := range map[string]float64{
		"":                              30148.79442195326,
		"--which magnitude":             30148.79442195326,
		"--which near:0":                0.003516860007857975,
		"--which near:30000 --k 2":      30001.303871363758,
		"--method lobpcg --tol 1e-6":    30148.79442195326,
		"--k 1 --basis 50 --max-iter 9": 0,
	} {
		if first == 0 {
			code, stdout, stderr := runArgs(append([]string{"eig", bus, "--json"}, strings.Fields(flags)...)...)
			require.Equal(t, exitFailed, code)
			require.Contains(t, stdout, `"failure": "lanczos: not converged after 9 iterations`)
			require.Contains(t, stderr, "msrep eig: lanczos: not converged")
			continue
		}
		args := append([]string{"eig", bus, "--out-vectors", out}, strings.Fields(flags)...)
		v := object(t, args...)
		requireKeys(t, v, eigenReportKeys)
		requireKeys(t, v["phases"], "read_s,plan_s,precond_s,product_s,vector_s,total_s")
		require.Equal(t, true, v["converged"], flags)
		values, residuals := v["values"].([]any), v["residuals"].([]any)
		require.InEpsilon(t, first, values[0], 1e-8, flags)
		require.Len(t, residuals, len(values))
		require.EqualValues(t, v["k"], len(values))
		for _, r := range residuals {
			require.LessOrEqual(t, r, v["tol"].(float64)*v["norm"].(float64))
		}
		m, err := matio.Read(t.Context(), out)
		require.NoError(t, err)
		require.Equal(t, 1138, m.Rows)
		require.Equal(t, len(values), m.Cols)
		require.NoError(t, m.Close())
	}
	text := runOK(t, "eig", bus, "--k", "2")
	for _, part := range []string{"1138 x 1138", "lanczos, largest 2: converged", "value  residual", "30148.7944"} {
		require.Contains(t, text, part)
	}
}

func TestSvdFindsSingularValuesAndWritesVectors(t *testing.T) {
	dir := t.TempDir()
	in, u, v := filepath.Join(dir, "m.mtx"), filepath.Join(dir, "u.mtx"), filepath.Join(dir, "v.mtx")
	require.NoError(t, os.WriteFile(in, []byte(head+"3 2 2\n1 1 3\n2 2 -4\n"), 0o600))
	for which, want := range map[string][]any{"largest": {4.0, 3.0}, "smallest": {3.0, 4.0}} {
		r := object(t, "svd", in, "--k", "2", "--which", which, "--out-u", u, "--out-v", v)
		requireKeys(t, r, eigenReportKeys)
		require.InDeltaSlice(t, want, r["values"], 1e-12)
		for file, rows := range map[string]int{u: 3, v: 2} {
			m, err := matio.Read(t.Context(), file)
			require.NoError(t, err)
			require.Equal(t, []int{rows, 2}, []int{m.Rows, m.Cols})
			require.NoError(t, m.Close())
		}
	}
	require.Contains(t, runOK(t, "svd", in, "--k", "1"), "golub-kahan-lanczos, largest 1: converged")
}

func TestEigAndSvdFindAllValuesOfMatricesSmallerThanTheDefault(t *testing.T) {
	m := filepath.Join(t.TempDir(), "m.mtx")
	require.NoError(t, os.WriteFile(m, []byte(head+"2 2 2\n1 1 3\n2 2 5\n"), 0o600))
	for _, name := range []string{"eig", "svd"} {
		v := object(t, name, m, "--json")
		require.EqualValues(t, 2, v["k"], name)
		require.InDeltaSlice(t, []any{5.0, 3.0}, v["values"], 1e-12, name)
		code, _, stderr := runArgs(name, m, "--k", "6")
		require.Equal(t, exitUsage, code, name)
		require.Contains(t, stderr, "--k: 6: use 1 to 2", name)
	}
}

func TestEigAndSvdRefuseBadArguments(t *testing.T) {
	bus := corpus.Testdata("1138_bus.mtx.gz")
	dir := t.TempDir()
	lopsided := filepath.Join(dir, "m.mtx")
	require.NoError(t, os.WriteFile(lopsided, []byte(head+"2 2 1\n1 2 3\n"), 0o600))
	for _, c := range []struct{ args, want string }{
		{"eig", "arguments: 0 given"},
		{"eig " + bus + " --k 0", "--k: 0: use 1 or more"},
		{"eig " + bus + " --k 2000", "--k: 2000: use 1 to 1138"},
		{"eig " + bus + " --tol 0", "--tol: 0: use"},
		{"eig " + bus + " --tol 2", "--tol: 2: use"},
		{"eig " + bus + " --which middle", `--which: "middle" is not known: use largest, smallest, magnitude or near:SIGMA`},
		{"eig " + bus + " --which near", `--which: "near": name a number, as in near:0`},
		{"eig " + bus + " --which near:NaN", `--which: "near:NaN": name a number`},
		{"eig " + bus + " --method qr", `--method: "qr" is not known`},
		{"eig " + bus + " --precond ic", "--precond: ic: only lobpcg has a preconditioner"},
		{"eig " + bus + " --basis 3", "--basis: 3: use more than the 6"},
		{"eig " + bus + " --max-iter -1", "--max-iter: -1"},
		{"eig " + bus + " --out-vectors v.npz", "--out-vectors: v.npz: .npz is no format of this result"},
		{"eig " + bus + " --method lobpcg --which magnitude", "--which: magnitude: lobpcg finds the largest or the smallest"},
		{"eig " + lopsided, lopsided + ": it is not symmetric: the entry in row 0, column 1 is 3, and in row 1, column 0 it is 0"},
		{"eig " + lopsided + " --out-vectors " + lopsided, "--out-vectors: " + lopsided + ": is the matrix"},
		{"svd " + bus + " --which near:0", `--which: "near:0" is not known: use largest or smallest`},
		{"svd " + bus + " --out-u " + dir + "/a.mtx --out-v " + dir + "/a.mtx", "is the file of --out-u"},
		{"svd " + bus + " --out-v " + dir + "/no/a.mtx", "no such file"},
	} {
		code, stdout, stderr := runArgs(strings.Fields(c.args)...)
		require.Equal(t, exitUsage, code, c.args)
		require.Empty(t, stdout, c.args)
		require.Contains(t, stderr, c.want, c.args)
		require.Equal(t, 1, strings.Count(stderr, "\n"), c.args)
	}
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, files, 1)
}
