package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/bench/record"
	"github.com/msrep-go/msrep/internal/plot"
)

// writeRecord writes a run with one row that takes mean seconds.
func writeRecord(t *testing.T, mean float64) string {
	t.Helper()
	r := record.New("test", nil)
	var samples []float64
	for i := range 20 {
		samples = append(samples, mean*(1+0.001*float64(i)))
	}
	r.Add("x", "case", "kernel", samples)
	var b bytes.Buffer
	require.NoError(t, r.Write(&b))
	path := filepath.Join(t.TempDir(), "results.json")
	require.NoError(t, os.WriteFile(path, b.Bytes(), 0o600))
	return path
}

func TestBenchComparesTwoRuns(t *testing.T) {
	a, same, slow := writeRecord(t, 1), writeRecord(t, 1.005), writeRecord(t, 1.1)
	require.Contains(t, runOK(t, "bench", "compare", a, filepath.Dir(same)), "1 no difference, 0 slower")
	out := runOK(t, "bench", "compare", a, slow)
	require.Contains(t, out, "0 no difference, 1 slower")
	require.Contains(t, out, "1.100")
	require.EqualValues(t, 1, object(t, "bench", "compare", a, slow)["slower"])
	var stdout, stderr bytes.Buffer
	require.Equal(t, exitFailed, run(context.Background(), []string{"bench", "compare", "--fail-slower", a, slow}, &stdout, &stderr))
	require.Equal(t, "msrep bench: slower: 1 rows, all together false\n", stderr.String())
	modelled := t.TempDir()
	runOK(t, "bench", "msrep-fig16", "--devices", "sim:summit", "--entries", "3000", "--out", modelled)
	stdout.Reset()
	stderr.Reset()
	require.Equal(t, exitUsage, run(context.Background(), []string{"bench", "compare", "--fail-slower", a, modelled}, &stdout, &stderr))
	require.Equal(t, "msrep bench: "+modelled+": has no measured time in common with "+a+"\n", stderr.String())
	require.Empty(t, stdout.String())
}

func TestBenchSaysWhenSamplesAreTooFewToCompare(t *testing.T) {
	var runs []string
	for range 3 {
		runs = append(runs, writeRecord(t, 1))
	}
	out := runOK(t, "bench", "compare", strings.Join(runs, ","), strings.Join(runs, ","))
	require.Equal(t, 2, strings.Count(out, "(too few samples)"), out)
}

func TestBenchWritesAReport(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	out := runOK(t, "bench", "msrep-fig16", "--devices", "sim:summit", "--entries", "3000", "--out", dir)
	require.Equal(t, filepath.Join(dir, "report.html")+"\n", out)
	for _, name := range []string{"report.html", "msrep-fig16-csr.svg", "msrep-fig16-csr.png", "msrep-fig16-csr.csv", "results.json"} {
		require.FileExists(t, filepath.Join(dir, name))
	}
	r, err := record.Read(filepath.Join(dir, "results.json"))
	require.NoError(t, err)
	require.Equal(t, record.Modelled, r.Rows[0].Source)

	require.Contains(t, runOK(t, "bench", "msrep-fig6", "--devices", "sim:dgx1", "--entries", "50000"), "559")
	var v record.Record
	require.NoError(t, json.Unmarshal([]byte(runOK(t, "bench", "msrep-fig17", "--devices", "sim:dgx1", "--entries", "3000", "--json")), &v))
	require.NotEmpty(t, v.Rows)
}

func TestBenchRefusesUnknownArguments(t *testing.T) {
	for _, args := range [][]string{
		{}, {"nothing"}, {"list", "extra"}, {"compare"}, {"compare", "a"}, {"compare", "a", "b"}, {"msrep-fig6", "--devices", "cpu:x"},
		{"msrep-fig6", "--entries", "0"}, {"msrep-fig6", "--samples", "0"}, {"msrep-fig6", "cpu-peers"}, {"msrep-fig6", "--threads", "1,2"},
		{"msrep-fig6", "--cache", "hot"}, {"msrep-fig6", "--passes", "0"}, {"msrep-fig6", "--passes", "1000"}, {"gpu-peers", "--results", "/no/such/folder"}, {"pellr", "--mats", "/no/such/folder"}, {"msrep-fig6", "--devices", "cuda"},
		{"cpu-peers", "--mats", t.TempDir(), "--json"}, {"cpu-peers", "--mats", t.TempDir(), "--value", "fp16"},
		{"regret"}, {"regret", "--mats", t.TempDir()}, {"regret", "--mats", ".", "--json"}, {"regret", "--mats", ".", "--busy", "x"}, {"regret", "--mats", ".", "--busy", "-1"},
		{"regret", "--mats", ".", "--runs", "0"}, {"regret", "--mats", ".", "--limit", "-1s"}, {"regret", "--mats", ".", "--expected", "-1"}, {"msrep-fig6", "regret"},
	} {
		var stdout, stderr bytes.Buffer
		require.Equal(t, exitUsage, run(context.Background(), append([]string{"bench"}, args...), &stdout, &stderr), "%v", args)
		require.Empty(t, stdout.String())
	}
	list := runOK(t, "bench", "list")
	names := object(t, "bench", "list")["experiments"]
	for _, name := range []string{"msrep-fig6", "msrep-fig23", "model", "pellr", "gpu-peers", "cpu-peers", "regret", "all"} {
		require.Contains(t, list, name)
		require.Contains(t, fmt.Sprint(names), "name:"+name+" ")
	}
}

func TestProgressIsForTerminals(t *testing.T) {
	var b bytes.Buffer
	newProgress(&b, false).step(1, 2, "x")
	require.Empty(t, b.String())
	p := &progress{w: &b}
	p.step(0, 4, "first")
	require.Contains(t, drawn(p, 0), "[0/4] ? left  first")
	p.step(1, 4, "second")
	require.Contains(t, drawn(p, 0), "[1/4] 0s left  second")
	p.end()
}

func TestBenchMeasuresWithColdCaches(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	runOK(t, "bench", "msrep-fig16", "--devices", "cpu:1", "--entries", "3000", "--samples", "2", "--max-time", "1ms", "--cache", "cold", "--out", dir)
	page, err := os.ReadFile(filepath.Join(dir, "report.html"))
	require.NoError(t, err)
	require.Contains(t, string(page), "cold: before each product")
	r, err := record.Read(filepath.Join(dir, "results.json"))
	require.NoError(t, err)
	require.Equal(t, "bench msrep-fig16 --cache cold --devices cpu:1 --entries 3000 --max-time 1ms --passes 3 --samples 2",
		strings.Join(r.Command, " "), "the command can be given again")
}

func TestBenchSaysThatThereIsNoGPU(t *testing.T) {
	out := runOK(t, "bench", "gpu-peers", "--devices", "cpu:1")
	require.Contains(t, out, "This run used no GPU")
	require.Contains(t, out, "no GPU results")
}

func TestBenchComparesOtherLibraries(t *testing.T) {
	dir := t.TempDir()
	runOK(t, "gen", "diag", "n=1", "--out", filepath.Join(dir, "one.bin"))
	table, out := filepath.Join(dir, "table"), filepath.Join(dir, "out")
	require.NoError(t, os.WriteFile(table, []byte("one mkl 1 1000 0.5 1.0\n"), 0o600))
	text := runOK(t, "bench", "cpu-peers", "--mats", dir, "--threads", "1", "--reps", "2", "--values", "random", "--peers", table, "--out", out)
	require.Regexp(t, `(?m)^one +msrep +1 `, text)
	require.Regexp(t, `one +1 +mkl`, text)
	for _, name := range []string{"report.html", "cpu-peers.csv", "cpu-peers.png", "results.json"} {
		require.FileExists(t, filepath.Join(out, name))
	}
	r, err := record.Read(filepath.Join(out, "results.json"))
	require.NoError(t, err)
	require.Equal(t, "bench cpu-peers --mats "+dir+" --peers "+table+" --reps 2 --threads 1 --value fp64 --values random", strings.Join(r.Command, " "))
	var stdout, stderr bytes.Buffer
	require.Equal(t, exitUsage, run(context.Background(), []string{"bench", "cpu-peers", "--mats", dir, "--peers", table + "x"}, &stdout, &stderr))
	require.Empty(t, stdout.String())
}

func TestBenchMeasuresRegret(t *testing.T) {
	dir := t.TempDir()
	runOK(t, "gen", "banded", "n=3000", "--out", filepath.Join(dir, "band.bin"))
	text := runOK(t, "bench", "regret", "--mats", dir, "--threads", "1", "--busy", "0,1", "--runs", "1")
	require.Regexp(t, `(?m)^band +1 threads, 1 busy: within `, text)
	require.Contains(t, text, "| 1 | 0 | 1 | ")
	require.Contains(t, runOK(t, "bench", "regret", "--mats", dir, "--limit", "1ns"), "left out 1 of 1 matrices")
}

func TestPrintedTablesLineUpAndNameTheirOriginWhereThereIsOne(t *testing.T) {
	var b strings.Builder
	printTable(&b, plot.Table{Title: "Times", Header: []string{"case", "measured and modelled", "n"}, Rows: [][]string{{"first", "1", "2"}}})
	require.Equal(t, "\nTimes\n  case                         measured and modelled          n\n  first                                            1          2\n", b.String())
	b.Reset()
	text := strings.Repeat("x", prose)
	printTable(&b, plot.Table{Title: "Sources", Header: []string{"", "of"}, Rows: [][]string{{"a", text}, {"b", "y"}}})
	require.Contains(t, b.String(), "  of\n")
	require.Contains(t, b.String(), " "+text+"\n")
	require.Contains(t, b.String(), "  y\n")
	b.Reset()
	printTable(&b, plot.Table{Title: "Times", Origin: plot.Measured})
	require.Equal(t, "\nTimes (measured here)\n", b.String()[:len("\nTimes (measured here)\n")])
}
