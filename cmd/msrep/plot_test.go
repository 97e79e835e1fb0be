package main

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/cluster"
	"github.com/msrep-go/msrep/internal/corpus"
)

// fileText returns the content of a file.
func fileText(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(b)
}

// requireSelfContained checks that a page needs no script and nothing from elsewhere.
func requireSelfContained(t *testing.T, page string) {
	t.Helper()
	without := strings.ReplaceAll(page, `xmlns="http://www.w3.org/2000/svg"`, "")
	require.NotRegexp(t, regexp.MustCompile(`(?i)<script|https?://|src=|@import|url\(`), without)
	require.NotRegexp(t, regexp.MustCompile(`NaN|[+-]Inf|%!`), page)
}

func TestInfoDrawsTheMatrix(t *testing.T) {
	dir := t.TempDir()
	memplus := corpus.Testdata("memplus.mtx.gz")
	page := filepath.Join(dir, "a.html")
	text := runOK(t, "info", memplus, "--plot", page)
	require.Equal(t, runOK(t, "info", memplus), text, "the text is that without --plot")
	html := fileText(t, page)
	requireSelfContained(t, html)
	for _, want := range []string{
		"17758 x 17758, 126150 nonzeros", "Entries, in 512 x 512 bins", "Lengths of rows", "Lengths of columns", "Distance of entries from the diagonal",
		"Strongest diagonals", "Blocks at multiples of their size", "Forms tried by cpu:0", "Elements of x from other parts", "prefers-color-scheme: dark",
	} {
		require.Contains(t, html, want)
	}
	require.Equal(t, 7, strings.Count(html, "<svg "))
	require.Equal(t, 7, strings.Count(html, `role="img" aria-label="`), "every figure has a text")
	require.Equal(t, strings.Count(html, "<table id"), strings.Count(html, `<div class="scroll" tabindex="0"><table id`), "every long table scrolls")

	picture := filepath.Join(dir, "a.png")
	runOK(t, "info", memplus, "--plot", picture)
	f, err := os.Open(picture)
	require.NoError(t, err)
	defer f.Close()
	_, err = png.Decode(f)
	require.NoError(t, err)

	drawing := filepath.Join(dir, "a.svg")
	runOK(t, "info", memplus, "--plot", drawing)
	d := xml.NewDecoder(strings.NewReader(fileText(t, drawing)))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else {
			require.NoError(t, err)
		}
	}
}

func TestMatricesOfAnyShapeAreDrawn(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{
		"no-rows": head + "0 5 0\n", "no-columns": head + "5 0 0\n", "nothing": head + "0 0 0\n", "no-entries": head + "3 4 0\n",
		"one-row": head + "1 900 2\n1 1 1\n1 900 1\n", "one": head + "1 1 1\n1 1 1\n", "column": head + "900 1 1\n7 1 1\n",
	} {
		path, page := filepath.Join(dir, name+".mtx"), filepath.Join(dir, name+".html")
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		runOK(t, "info", path, "--plot", page)
		requireSelfContained(t, fileText(t, page))
	}
}

func TestSpmvDrawsAndWritesWhatEachDeviceDid(t *testing.T) {
	dir := t.TempDir()
	page, trace := filepath.Join(dir, "a.html"), filepath.Join(dir, "a.json")
	runOK(t, "spmv", corpus.Testdata("gre_343.mtx.gz"), "--devices", "cpu:2", "--repeat", "5", "--plot", page, "--trace", trace, "--out", filepath.Join(dir, "y.mtx"))
	html := fileText(t, page)
	requireSelfContained(t, html)
	for _, want := range []string{"The whole run", "Product ", " of 5, of median time", ">cpu:1</text>", "plan: pack", "read matrix", "write y"} {
		require.Contains(t, html, want)
	}
	var v struct {
		Events []struct {
			Name, Phase string
			Ph          string
			Tid         int
			Args        map[string]any
		} `json:"traceEvents"`
	}
	require.NoError(t, json.Unmarshal([]byte(fileText(t, trace)), &v))
	calls, lanes := 0, map[any]bool{}
	for _, e := range v.Events {
		if e.Name == "spmv" && e.Ph == "X" {
			calls++
		}
		if e.Name == "thread_name" {
			lanes[e.Args["name"]] = true
		}
	}
	require.Equal(t, 5, calls)
	require.Equal(t, map[any]bool{"phases": true, "cpu:0": true, "cpu:1": true}, lanes)
}

func TestSolveDrawsItsResidualOverTime(t *testing.T) {
	page := filepath.Join(t.TempDir(), "a.html")
	runOK(t, "solve", corpus.Testdata("gre_343.mtx.gz"), "--plot", page)
	html := fileText(t, page)
	requireSelfContained(t, html)
	require.Contains(t, html, "seconds from the start of the solve")
	require.Contains(t, html, "within the tolerance")
}

func TestPicturesThatCannotBeWrittenAreRefusedBeforeTheWork(t *testing.T) {
	dir := t.TempDir()
	matrix := filepath.Join(dir, "a.html") // a matrix may have any name
	require.NoError(t, os.WriteFile(matrix, []byte(head+"1 1 1\n1 1 1\n"), 0o600))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "folder.html"), 0o700))
	good := filepath.Join(dir, "b.html")
	for _, c := range []struct{ args, says string }{
		{"info gen:diag:n=3 --plot a.pdf", "msrep info: --plot: a.pdf: the extension says the format: use .html, .png, .svg"},
		{"info gen:diag:n=3 --plot -", "--plot: -: the extension"},
		{"info " + matrix + " --plot " + matrix, "is the matrix, which it would replace"},
		{"info gen:diag:n=3 --plot " + dir + "/no/a.html", "--plot: " + dir + "/no/a.html: cannot be created: no such file or directory"},
		{"info gen:diag:n=3 --plot " + dir + "/folder.html", "is a directory"},
		{"spmv gen:diag:n=3 --plot a.gif", "use .html, .png, .svg"},
		{"spmv gen:diag:n=3 --trace a.html", "--trace: a.html: the extension says the format: use .json"},
		{"spmv gen:diag:n=3 --out " + good + " --plot " + good, "is the file for y"},
		{"spmv gen:diag:n=3 --plot " + dir + "/no/a.html", "cannot be created"},
		{"solve gen:diag:n=3 --plot a", "use .html, .png, .svg"},
	} {
		code, stdout, stderr := runArgs(strings.Fields(c.args)...)
		require.Equal(t, exitUsage, code, c.args)
		require.Empty(t, stdout)
		require.Contains(t, stderr, c.says, c.args)
		require.Equal(t, 1, strings.Count(stderr, "\n"), stderr)
	}
	require.NoFileExists(t, good)
}

func TestSeveralRanksWriteNoPicture(t *testing.T) {
	defer func(f func() (rankComm, error)) { startRanks = f }(startRanks)
	startRanks = func() (rankComm, error) { return alone{cluster.Local(1)[0]}, nil }
	t.Setenv("PMI_RANK", "0")
	for _, args := range [][]string{{"--plot", "a.html"}, {"--trace", "a.json"}} {
		code, _, stderr := runArgs(append([]string{"spmv", "gen:diag:n=3"}, args...)...)
		require.Equal(t, exitUsage, code)
		require.Equal(t, "msrep spmv: "+args[0]+": "+args[1]+": a run on several ranks writes no page and no trace\n", stderr)
	}
}

func TestAPictureOfAFailedRunDoesNotAppear(t *testing.T) {
	dir := t.TempDir()
	page := filepath.Join(dir, "a.html")
	bad := filepath.Join(dir, "bad.mtx")
	require.NoError(t, os.WriteFile(bad, []byte(head+"2 2 1\n9 9 9\n"), 0o600))
	for _, command := range []string{"info", "spmv", "solve"} {
		code, _, _ := runArgs(command, bad, "--plot", page)
		require.Equal(t, exitUsage, code)
		require.NoFileExists(t, page)
	}
}
