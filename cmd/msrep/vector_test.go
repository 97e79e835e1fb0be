package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/sparse/matio"
)

func TestVectorsOfNumPyAreReadAndWritten(t *testing.T) {
	dir := t.TempDir()
	msrep := func(args ...string) string {
		t.Helper()
		var stderr strings.Builder
		require.Zero(t, run(context.Background(), args, io.Discard, &stderr), "%v: %s", args, &stderr)
		return args[len(args)-1]
	}
	read := func(path string) []float64 {
		t.Helper()
		v, _, err := matio.ReadVector(context.Background(), path)
		require.NoError(t, err)
		return v
	}
	const matrix = "gen:stencil:n=20,points=5"
	npy := msrep("spmv", matrix, "--x", "sin", "--out", filepath.Join(dir, "y.npy"))
	head := make([]byte, 6)
	f, err := os.Open(npy)
	require.NoError(t, err)
	_, err = io.ReadFull(f, head)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	require.Equal(t, "\x93NUMPY", string(head))
	want := read(msrep("spmv", matrix, "--x", "sin", "--out", filepath.Join(dir, "y.mtx")))
	require.Equal(t, want, read(npy))
	packed := msrep("spmv", matrix, "--x", "zeros", "--beta", "1", "--y", npy, "--out", filepath.Join(dir, "z.npy.gz"))
	require.Equal(t, want, read(packed))

	x := read(msrep("solve", matrix, "--rhs", npy, "--tol", "1e-12", "--out", filepath.Join(dir, "x.npy")))
	require.Len(t, x, 400)
	require.InDelta(t, 0.8414709848, x[0], 1e-8, "sin(1)")
	again := read(msrep("spmv", matrix, "--x", filepath.Join(dir, "x.npy"), "--out", filepath.Join(dir, "again.mtx")))
	require.InDeltaSlice(t, want, again, 1e-9)

	content, err := os.ReadFile(npy)
	require.NoError(t, err)
	for name, c := range map[string]struct{ file, want string }{
		"cut.npy":   {string(content[:1000]), "ends early"},
		"text.npy":  {"one two three\n", "does not begin as a NumPy array does"},
		"empty.npy": {"", "is empty; a vector is needed"},
		"m.npz":     {"PK\x03\x04", "is an .npz archive: a vector is read from a .mtx or .npy file"},
		"short.npy": {string(content[:128]) + "", "ends early"},
		"c.npy":     {strings.Replace(string(content), "<f8", "<c8", 1), "holds complex numbers"},
	} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(c.file), 0o644))
		var stderr strings.Builder
		require.Equal(t, 2, run(context.Background(), []string{"solve", matrix, "--rhs", path}, io.Discard, &stderr))
		require.Contains(t, stderr.String(), path+": "+c.want)
		require.Equal(t, 1, strings.Count(stderr.String(), "\n"), "%s", &stderr)
	}
	var stderr strings.Builder
	require.Equal(t, 2, run(context.Background(), []string{"spmv", "gen:stencil:n=21,points=5", "--x", npy}, io.Discard, &stderr))
	require.Contains(t, stderr.String(), "a vector of 400 elements; --x needs 441")
}
