package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/corpus"
	"github.com/msrep-go/msrep/kernels/cpu"
	"github.com/msrep-go/msrep/sparse/matio"
)

// head is the first line of a Matrix Market file.
const head = "%%MatrixMarket matrix coordinate real general\n"

// runOK runs a command line that must succeed and returns its output.
func runOK(t *testing.T, args ...string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := run(context.Background(), args, &stdout, &stderr)
	require.Equal(t, exitOK, code, "%v: %s", args, stderr.String())
	require.Empty(t, stderr.String(), "%v", args)
	return stdout.String()
}

// runJSON is runOK for output that is one JSON object.
func runJSON(t *testing.T, v any, args ...string) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(runOK(t, append(args, "--json")...)))
	require.NoError(t, d.Decode(v))
	require.False(t, d.More(), "one object only")
}

func TestSpmvPrintsTheNormsThatSciPyComputed(t *testing.T) {
	for _, row := range corpus.Table(t, corpus.Testdata("products.tsv")) {
		path := corpus.Testdata(row["name"] + ".mtx.gz")
		for _, args := range [][]string{
			{"spmv", path, "--x", "sin"},
			{"spmv", "--x", "sin", "--devices", "cpu:3", "--format", "coo", path, "--repeat", "3"},
			{"spmv", path, "--x=sin", "--devices=cpu:2", "--format=csc", "--transpose", "--strategy", "p"},
			{"spmv", path, "--x=sin", "--devices=cpu:5", "--strategy", "baseline", "--transpose"},
			{"spmv", path, "--x=sin", "--devices=sim:2"},
		} {
			var r report
			runJSON(t, &r, args...)
			prefix := "y_"
			if r.Op != "A" {
				prefix = "z_"
			}
			norm1 := parse(t, row[prefix+"norm1"])
			require.InDelta(t, norm1, float64(r.Y.Norm1), 1e-12*norm1, "%v", args)
			require.InDelta(t, parse(t, row[prefix+"norm2"]), float64(r.Y.Norm2), 1e-12*norm1, "%v", args)
			require.InDelta(t, parse(t, row[prefix+"sum"]), float64(r.Y.Sum), 1e-12*norm1, "%v", args)
			require.Equal(t, row["name"], r.Matrix.Name)
			require.Equal(t, row["nnz"], strconv.FormatInt(r.Matrix.NNZ, 10))
			var nnz int64
			for i, d := range r.Devices {
				require.Equal(t, nnz, d.StartIdx, "device %d", i)
				nnz += d.NNZ
				require.Equal(t, nnz-1, d.EndIdx, "device %d", i)
			}
			require.Equal(t, r.Matrix.NNZ, nnz)
		}
	}
}

func TestInfoAgreesWithSciPy(t *testing.T) {
	for _, row := range corpus.Table(t, corpus.Testdata("products.tsv")) {
		var d description
		runJSON(t, &d, "info", corpus.Testdata(row["name"]+".mtx.gz"))
		got := map[string]int64{
			"rows": int64(d.Rows), "cols": int64(d.Cols), "nnz": d.NNZ, "row_min": d.Row.Min, "row_max": d.Row.Max,
			"empty_rows": d.EmptyRows, "empty_cols": d.EmptyCols,
			"warp_iter_ellr": *d.Formats["ellr"].WarpIterations, "warp_iter_pellr": *d.Formats["pellr"].WarpIterations,
		}
		for column, n := range got {
			require.Equal(t, row[column], strconv.FormatInt(n, 10), "%s %s", row["name"], column)
		}
		require.InDelta(t, parse(t, row["row_mean"]), d.Row.Mean, 1e-6)
		require.InDelta(t, parse(t, row["row_stddev"]), d.Row.StdDev, 1e-6)
		require.NotEmpty(t, d.Recommended.Why)
		require.NotEmpty(t, d.ForGPU.Format)
		require.NotEmpty(t, d.ForGPU.Why)
	}
}

func TestTheWrittenVectorTimesOneGivesTheSameNorms(t *testing.T) {
	out := filepath.Join(t.TempDir(), "y.mtx.gz")
	var first, second report
	runJSON(t, &first, "spmv", corpus.Testdata("gre_343.mtx.gz"), "--x", "random:7", "--y", "sin", "--alpha", "-2.5", "--beta", "0.5", "--out", out)
	runJSON(t, &second, "spmv", "gen:diag:n=343,value=ones", "--x", out)
	require.Equal(t, first.Y, second.Y)
	require.NotZero(t, first.Y.Norm1)
}

func TestBetaAddsToTheInitialY(t *testing.T) {
	var r report
	runJSON(t, &r, "spmv", "gen:diag:n=4,value=ones", "--x", "ones", "--y", "ones", "--alpha", "2", "--beta", "3", "--repeat", "5")
	require.Equal(t, number(20), r.Y.Sum, "each of the repeated products starts from the initial y")
}

func TestSinglePrecisionIsCloseToDouble(t *testing.T) {
	var d, s report
	path := corpus.Testdata("memplus.mtx.gz")
	runJSON(t, &d, "spmv", path, "--x", "sin")
	runJSON(t, &s, "spmv", path, "--x", "sin", "--value", "fp32")
	require.InEpsilon(t, float64(d.Y.Norm1), float64(s.Y.Norm1), 1e-6)
	require.NotEqual(t, d.Y.Norm1, s.Y.Norm1)
	require.Less(t, float64(s.BytesPerNNZ), float64(d.BytesPerNNZ))
}

func TestValuesInSegmentsMultiplyTheSameOnAllDevices(t *testing.T) {
	path := corpus.Testdata("plskz362.mtx.gz")
	var exact report
	runJSON(t, &exact, "spmv", path, "--x", "sin")
	for precision, read := range map[string]float64{"cpms2:1": 4, "cpms4:1": 2, "cpms4:3": 6, "cpms2:2": 8} {
		var first report
		for _, device := range []string{"cpu:1", "sim:2"} {
			for _, format := range []string{"csr", "ell", "pellr"} {
				var r report
				runJSON(t, &r, "spmv", path, "--x", "sin", "--precision", precision, "--devices", device, "--format", format)
				if first.Y.Norm1 == 0 {
					first = r
				}
				require.InEpsilon(t, float64(first.Y.Norm1), float64(r.Y.Norm1), 1e-14, "%s %s %s", precision, device, format)
				require.InDelta(t, float64(exact.BytesPerNNZ)-8+read, float64(r.BytesPerNNZ), 1e-9, "%s %s %s", precision, device, format)
			}
		}
		if precision == "cpms2:2" {
			require.InEpsilon(t, float64(exact.Y.Norm1), float64(first.Y.Norm1), 1e-14)
		} else {
			require.NotEqual(t, exact.Y.Norm1, first.Y.Norm1, precision)
			require.InEpsilon(t, float64(exact.Y.Norm1), float64(first.Y.Norm1), 0.1, precision)
		}
	}
}

func TestConvertKeepsTheMatrixThroughEveryFormat(t *testing.T) {
	dir := t.TempDir()
	in := corpus.Testdata("plskz362.mtx.gz")
	var want, got report
	runJSON(t, &want, "spmv", in, "--x", "sin")
	for _, ext := range matio.Extensions() {
		if ext == ".csv" || ext == ".tsv" { // only read
			continue
		}
		for _, gz := range []string{"", ".gz", ".zst"} {
			out := filepath.Join(dir, "m"+ext+gz)
			runOK(t, "convert", in, out)
			runOK(t, "convert", out, out)
			runJSON(t, &got, "spmv", out, "--x", "sin")
			if ext == ".txt" { // trailing empty rows of a graph are lost
				continue
			}
			require.Equal(t, want.Y, got.Y, ext+gz)
		}
	}
}

func TestConvertNamesTheMatrixAsOtherCommandsDo(t *testing.T) {
	out := filepath.Join(t.TempDir(), "m.msr")
	v := object(t, "convert", corpus.Testdata("plskz362.mtx.gz"), out)
	require.Equal(t, out, v["out"])
	require.Equal(t, map[string]any{"name": "plskz362", "rows": 362.0, "cols": 362.0, "nnz": 1760.0}, v["matrix"])
}

func TestGenWritesWhatTheSpecReads(t *testing.T) {
	out := filepath.Join(t.TempDir(), "m.msr")
	runOK(t, "gen", "rmat", "scale=8", "seed=3", "--out", out)
	var a, b report
	runJSON(t, &a, "spmv", out, "--x", "sin")
	runJSON(t, &b, "spmv", "gen:rmat:scale=8,seed=3", "--x", "sin")
	require.Equal(t, a.Y, b.Y)

	runOK(t, "gen", "like=HV15R", "scale=0.0001", "--out", out)
	runJSON(t, &a, "spmv", out, "--x", "sin")
	runJSON(t, &b, "spmv", "gen:like=HV15R,scale=0.0001", "--x", "sin")
	require.Equal(t, a.Y, b.Y)
}

func TestEverySubcommandHasHelpWithAnExample(t *testing.T) {
	require.Contains(t, runOK(t, "help"), "usage")
	for _, again := range []string{"help", "--help", "-h"} {
		require.Equal(t, runOK(t, "help"), runOK(t, "help", again))
	}
	for _, c := range commands {
		text := runOK(t, c.name, "--help")
		require.Contains(t, text, "usage: msrep "+c.name)
		require.Contains(t, text, "example:\n  msrep "+c.name)
	}
}

func TestADeviceWithoutRowsSaysSo(t *testing.T) {
	out := runOK(t, "spmv", "gen:diag:n=2", "--devices", "cpu:3")
	require.Contains(t, out, "1 nonzeros [1, 1], rows 1 to 1,")
	require.Contains(t, out, "0 nonzeros, no rows,")
}

func TestTopoAndVersionPrintOneObject(t *testing.T) {
	var topo topology
	runJSON(t, &topo, "topo", "--devices", "cpu:3")
	require.Len(t, topo.Devices, 3)
	require.Equal(t, "1/3", topo.Devices[0].Share)
	var version map[string]any
	runJSON(t, &version, "version")
	require.Contains(t, version, "cuda")
	instructions, err := cpu.InstructionSet()
	require.NoError(t, err)
	require.Equal(t, instructions, version["cpu_kernels"])
	require.Contains(t, runOK(t, "topo"), "node")
	require.Contains(t, runOK(t, "version"), "go1.")
	require.Equal(t, runOK(t, "version"), runOK(t, "--version"))
}

func TestAnInterruptedCommandLeavesNoFile(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	dir := t.TempDir()
	var stdout, stderr bytes.Buffer
	code := run(ctx, []string{"spmv", corpus.Testdata("memplus.mtx.gz"), "--out", filepath.Join(dir, "y.mtx")}, &stdout, &stderr)
	require.Equal(t, exitFailed, code)
	require.Equal(t, "msrep spmv: interrupted\n", stderr.String())
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, files)
}

func parse(t *testing.T, s string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(s, 64)
	require.NoError(t, err)
	return v
}

// restoreProcs returns a function that undoes the effect of --threads on this process.
func restoreProcs() func() {
	n := runtime.GOMAXPROCS(0)
	return func() { runtime.GOMAXPROCS(n) }
}
