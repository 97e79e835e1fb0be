package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Links of a small graph with ids, and with weights. d has no links.
const (
	linksCSV    = "source,target\na,b\nb,c\n\"c, x\",a\nc,a\na,d\n"
	weightedCSV = "source,target,weight\na,b,3\na,c,1\nb,a,2\nc,a,1\n"
)

// scoresIn returns the lines of a file of scores after its header, as fields.
func scoresIn(t *testing.T, path string) (lines [][]string) {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	for _, l := range strings.Split(strings.TrimSpace(string(text)), "\n")[1:] {
		at := strings.LastIndexAny(l, ",\t")
		lines = append(lines, []string{l[:at], l[at+1:]})
	}
	return lines
}

func topOf(t *testing.T, v map[string]any, name string) map[string]float64 {
	t.Helper()
	scores := map[string]float64{}
	for _, n := range v[name].([]any) {
		n := n.(map[string]any)
		scores[n["node"].(string)] = n["score"].(float64)
	}
	return scores
}

func TestPagerankGivesTheIDsOfTheUser(t *testing.T) {
	path, dir := textFile(t, "links.csv", linksCSV), t.TempDir()
	out := filepath.Join(dir, "r.csv")
	v := object(t, "pagerank", path, "--quiet", "--top", "9", "--out", out)
	top := topOf(t, v, "top")
	require.Len(t, top, 5)
	ids := []string{}
	for _, l := range scoresIn(t, out) {
		ids = append(ids, l[0])
	}
	require.Equal(t, []string{"a", "b", "c", `"c, x"`, "d"}, ids)
	require.Greater(t, top["a"], top["c, x"])

	tsv := filepath.Join(dir, "r.tsv.gz")
	runOK(t, "pagerank", path, "--quiet", "--out", tsv)
	array := filepath.Join(dir, "r.mtx")
	runOK(t, "pagerank", path, "--quiet", "--out", array)
	for _, warm := range []string{out, tsv, array} {
		again := object(t, "pagerank", path, "--quiet", "--warm", warm, "--tol", "1e-9")
		require.Equal(t, 1.0, again["iterations"], warm)
	}
	require.Greater(t, v["iterations"], 10.0)
}

func TestIDsPassThroughConvert(t *testing.T) {
	path, dir := textFile(t, "links.csv", linksCSV), t.TempDir()
	msr, ids := filepath.Join(dir, "l.msr"), filepath.Join(dir, "ids.txt")
	runOK(t, "convert", path, msr, "--ids", ids, "--quiet")
	want := object(t, "pagerank", path, "--quiet", "--seeds", "c,d")
	got := object(t, "pagerank", msr, "--ids", ids, "--seeds", "c,d")
	require.Equal(t, want["top"], got["top"])
	require.Equal(t, 2.0, got["seeds"])
	code, _, stderr := runArgs("convert", msr, filepath.Join(dir, "again.msr"), "--ids", filepath.Join(dir, "none.txt"))
	require.Equal(t, exitUsage, code)
	require.Contains(t, stderr, "has no ids of nodes")
	require.NoFileExists(t, filepath.Join(dir, "again.msr"))
	require.NoFileExists(t, filepath.Join(dir, "none.txt"))
	code, _, stderr = runArgs("convert", path, msr, "--ids", msr)
	require.Equal(t, exitUsage, code)
	require.Contains(t, stderr, "name another one")
	weighted := textFile(t, "w.tsv", "a\tb\t2\nb\ta\t3\n")
	runOK(t, "convert", weighted, msr, "--quiet", "--weights", "on")
	require.Equal(t, "real", object(t, "info", msr)["field"])
}

// TestPersonalisedPagerankSolvesItsEquation checks p = d*(A'p/out + lost*v) + (1-d)*v at nodes whose equations are short.
func TestPersonalisedPagerankSolvesItsEquation(t *testing.T) {
	path := textFile(t, "links.csv", linksCSV)
	list := textFile(t, "seeds.txt", "b\nc, x\n")
	for _, c := range []struct {
		args []string
		b, x float64 // teleport weights of b and of "c, x"
	}{
		{[]string{"--seeds", list}, 0.5, 0.5},
		{[]string{"--seeds", "b"}, 1, 0},
		{[]string{"--personal", textFile(t, "p.csv", "id,weight\nb,3\n\"c, x\",1\n")}, 0.75, 0.25},
		{[]string{"--personal", textFile(t, "p.mtx", "%%MatrixMarket matrix array real general\n5 1\n0\n3\n0\n1\n0\n")}, 0.75, 0.25},
	} {
		for _, more := range [][]string{nil, {"--deterministic"}, {"--dangling", "uniform"}, {"--devices", "sim:2"}} {
			p := topOf(t, object(t, append(append([]string{"pagerank", path, "--quiet", "--top", "9", "--tol", "1e-13"}, c.args...), more...)...), "top")
			lost, other := 0.85*p["d"], 0.0
			if len(more) == 2 && more[1] == "uniform" {
				lost, other = 0, 0.85*p["d"]/5
			}
			require.InDelta(t, 0.85*p["a"]/2+(0.15+lost)*c.b+other, p["b"], 1e-12, "%v %v", c.args, more)
			require.InDelta(t, (0.15+lost)*c.x+other, p["c, x"], 1e-12, "%v %v", c.args, more)
			require.InDelta(t, 0.85*p["b"]+other, p["c"], 1e-12, "%v %v", c.args, more)
		}
	}
}

func TestWeightsCountWhereTheyAreAskedFor(t *testing.T) {
	path := textFile(t, "links.csv", weightedCSV)
	equation := func(args ...string) (b, c float64) {
		p := topOf(t, object(t, append([]string{"pagerank", path, "--quiet", "--tol", "1e-13"}, args...)...), "top")
		return (p["b"] - 0.05) / p["a"] / 0.85, (p["c"] - 0.05) / p["a"] / 0.85
	}
	for _, more := range [][]string{{"--weights", "on"}, {"--weights", "on", "--deterministic"}, {"--weights", "on", "--layout", "separated", "--precision", "cpms2"}} {
		b, c := equation(more...)
		require.InDelta(t, 0.75, b, 1e-10, more)
		require.InDelta(t, 0.25, c, 1e-10, more)
	}
	b, c := equation("--weights", "off")
	require.InDelta(t, b, c, 1e-10)
	// Without a header, the third field is the weight only with --weights on.
	path = textFile(t, "plain.csv", strings.SplitN(weightedCSV, "\n", 2)[1])
	b, _ = equation("--weights", "on")
	require.InDelta(t, 0.75, b, 1e-10)
}

func TestHITSAndKatzSolveTheirEquations(t *testing.T) {
	path, out := textFile(t, "links.csv", weightedCSV), filepath.Join(t.TempDir(), "s.tsv")
	for _, devices := range []string{"cpu", "sim:2"} {
		v := object(t, "pagerank", path, "--method", "hits", "--quiet", "--tol", "1e-14", "--out", out, "--devices", devices)
		require.Equal(t, "hits", v["method"])
		a, h := topOf(t, v, "top"), topOf(t, v, "top_hubs")
		// b and c have the one link from a; a has those from b and c.
		require.InDelta(t, a["b"], a["c"], 1e-12)
		require.InDelta(t, h["a"]/(h["b"]+h["c"]), (a["b"])/a["a"], 1e-9)
		text, err := os.ReadFile(out)
		require.NoError(t, err)
		require.True(t, strings.HasPrefix(string(text), "node\tauthority\thub\na\t"), string(text))

		v = object(t, "pagerank", path, "--method", "katz", "--alpha", "0.2", "--weights", "on", "--quiet", "--tol", "1e-14", "--devices", devices)
		require.Equal(t, 0.2, v["alpha"])
		k := topOf(t, v, "top")
		require.InDelta(t, 0.2*(2*k["b"]+k["c"])+1, k["a"], 1e-10)
		require.InDelta(t, 0.2*3*k["a"]+1, k["b"], 1e-10)
	}
	require.Contains(t, runOK(t, "pagerank", path, "--method", "hits", "--quiet"), "authorities:\n")
	code, _, stderr := runArgs("pagerank", path, "--method", "katz", "--alpha", "2", "--quiet")
	require.Equal(t, exitFailed, code)
	require.Contains(t, stderr, "alpha must be below 1/lambda")
}

func TestAWarmStartSkipsNodesThatAreGone(t *testing.T) {
	path := textFile(t, "links.csv", linksCSV)
	warm := textFile(t, "warm.csv", "node,rank\na,0.5\ngone,0.5\n")
	code, _, stderr := runArgs("pagerank", path, "--warm", warm)
	require.Equal(t, exitOK, code)
	require.Contains(t, stderr, "1 of the nodes are not in the graph")
	require.Contains(t, stderr, "links.csv: line 1 is taken as a header")
}

func TestWrongSeedsAndIDsAreRefused(t *testing.T) {
	path := textFile(t, "links.csv", linksCSV)
	for _, c := range []struct {
		args    []string
		message string
	}{
		{[]string{"--seeds", "a,nix"}, `--seeds: "nix" is no node of the graph`},
		{[]string{"--seeds", "a,a"}, `node "a" is given twice`},
		{[]string{"--seeds", textFile(t, "none.txt", "\n")}, "none.txt: has no ids"},
		{[]string{"--personal", textFile(t, "p", "a 1\nnix 2\n")}, `p:2: "nix" is no node of the graph`},
		{[]string{"--personal", textFile(t, "p", "a 1\na 2\n")}, `p:2: node "a" is given twice`},
		{[]string{"--personal", textFile(t, "p", "a -1\n")}, `p:1: node "a" has -1`},
		{[]string{"--personal", textFile(t, "p", "a 0\n")}, "p: all numbers are 0"},
		{[]string{"--personal", textFile(t, "p.mtx", "%%MatrixMarket matrix array real general\n1 1\n1\n")}, "p.mtx: a vector of 1 elements; --personal needs 5"},
		{[]string{"--personal", "nowhere"}, "nowhere: no such file"},
		{[]string{"--warm", textFile(t, "w", "a 0\n")}, "w: all numbers are 0"},
		{[]string{"--ids", textFile(t, "ids", "a\n")}, "ids: 1 ids; the graph has 5 nodes"},
		{[]string{"--seeds", "a", "--personal", "b"}, "leave one out"},
		{[]string{"--method", "hits", "--seeds", "a"}, "--seeds: applies to --method pagerank only"},
		{[]string{"--method", "katz", "--weights", "stored"}, "use on or off"},
		{[]string{"--method", "hits", "--out", "h.mtx"}, "each node has two scores"},
		{[]string{"--method", "degree"}, "use pagerank, hits or katz"},
		{[]string{"--alpha", "0.1"}, "applies to --method katz only"},
		{[]string{"--method", "katz", "--alpha", "0"}, "use a number above 0"},
		{[]string{"--dangling", "none"}, "use teleport or uniform"},
		{[]string{"--weights", "on"}, "weights are asked for, but edges have 2 fields"},
	} {
		code, stdout, stderr := runArgs(append([]string{"pagerank", path, "--quiet"}, c.args...)...)
		require.Equal(t, exitUsage, code, c.args)
		require.Empty(t, stdout, c.args)
		require.Contains(t, stderr, c.message, c.args)
		require.Equal(t, 1, strings.Count(stderr, "\n"), stderr)
	}
}

func TestEveryCommandThatReadsAMatrixReadsEdgeListsWithIDs(t *testing.T) {
	path := textFile(t, "links.csv", linksCSV)
	require.Equal(t, 5.0, object(t, "info", path, "--quiet")["rows"])
	require.Equal(t, 5.0, object(t, "spmv", path, "--quiet")["y"].(map[string]any)["sum"])
}
