package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/corpus"
	"github.com/msrep-go/msrep/internal/spgemm"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/matio"
)

func TestSpgemmWritesTheProduct(t *testing.T) {
	bus := corpus.Testdata("1138_bus.mtx.gz")
	m, err := matio.Read(t.Context(), bus)
	require.NoError(t, err)
	want, err := spgemm.Multiply(m.CSR, m.CSR, nil)
	require.NoError(t, err)
	for _, args := range [][]string{{bus}, {bus, bus}, {bus, bus, "--transpose-a"}, {bus, "--transpose-b"}} { // the matrix is symmetric
		for _, devices := range []string{"cpu:1", "cpu:3", "sim:2"} {
			out := filepath.Join(t.TempDir(), "c.msr")
			v := object(t, append([]string{"spgemm", "--devices", devices, "--repeat", "2", "--out", out}, args...)...)
			requireKeys(t, v, "a,b,c,multiplications,compression,devices,phases,gflops,gb_per_s,device_bytes")
			requireKeys(t, v["phases"], "read_s,convert_s,analyze_s,structure_s,compute_s,product_s,values_s,write_s,total_s")
			require.Equal(t, map[string]any{"name": "C", "rows": 1138.0, "cols": 1138.0, "nnz": float64(want.NNZ())}, v["c"])
			require.EqualValues(t, spgemm.Multiplications(spgemm.Work(spgemm.On{}, m.CSR, m.CSR)), v["multiplications"])
			got, err := matio.Read(t.Context(), out)
			require.NoError(t, err)
			require.Equal(t, want.RowPtr, got.RowPtr)
			require.Equal(t, want.ColIdx, got.ColIdx)
			require.Equal(t, want.Val, got.Val)
			require.NoError(t, got.Close())
		}
	}
}

func TestSpgemmKeepsIntegersAndRefusesWrongInput(t *testing.T) {
	dir := t.TempDir()
	a, b, out := filepath.Join(dir, "a.mtx"), filepath.Join(dir, "b.mtx"), filepath.Join(dir, "c.mtx")
	require.NoError(t, os.WriteFile(a, []byte("%%MatrixMarket matrix coordinate integer general\n2 3 2\n1 1 2\n2 3 -3\n"), 0o600))
	require.NoError(t, os.WriteFile(b, []byte("%%MatrixMarket matrix coordinate pattern general\n3 1 2\n1 1\n3 1\n"), 0o600))
	for _, value := range []string{"fp64", "fp32"} {
		runOK(t, "spgemm", a, b, "--value", value, "--out", out)
		m, err := matio.Read(t.Context(), out)
		require.NoError(t, err)
		require.Equal(t, sparse.Integer, m.Source.Field)
		require.Equal(t, []float64{2, -3}, m.Val)
	}
	require.NoError(t, os.Remove(out))
	for want, args := range map[string][]string{
		"op(B) has 2 rows, but op(A) has 3 columns": {a},
		"op(B) has 1 rows, but op(A) has 3 columns": {a, b, "--transpose-b"},
		"3 given, it takes A [B]":                   {a, b, b},
		"0 given, it takes A [B]":                   {},
		"an empty argument is given":                {""},
		"--value: \"fp16\" is not known":            {a, b, "--value", "fp16"},
		"--repeat: 0: use 1 to":                     {a, b, "--repeat", "0"},
		"nothing.mtx":                               {a, filepath.Join(dir, "nothing.mtx")},
		filepath.Join(dir, "none", "c.mtx"):         {a, b, "--out", filepath.Join(dir, "none", "c.mtx")},
	} {
		code, _, stderr := runArgs(append([]string{"spgemm", "--out", out}, args...)...)
		require.Equal(t, exitUsage, code, "%v: %s", args, stderr)
		require.Contains(t, stderr, want)
		require.NoFileExists(t, out)
	}
}
