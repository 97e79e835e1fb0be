package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/cmd/msrep/internal/nodes"
	"github.com/msrep-go/msrep/sparse/mtx"
)

// web is a graph of five nodes. The last one has no links; 2 -> 0 and 3 -> 0 give node 0 the highest rank.
const web = "%%MatrixMarket matrix coordinate pattern general\n5 5 5\n1 2\n2 3\n3 1\n4 1\n1 5\n"

func webFile(t *testing.T) string {
	path := filepath.Join(t.TempDir(), "web.mtx")
	require.NoError(t, os.WriteFile(path, []byte(web), 0o600))
	return path
}

func TestPagerankKeepsTheNamesOfItsJSONAndWhatTheyMean(t *testing.T) {
	for _, args := range [][]string{
		{"--precision", "fp64"},
		{"--precision", "cpms2", "--weights", "stored"},
		{"--precision", "cpms4", "--layout", "interleaved:128", "--format", "ell"},
		{"--precision", "cpms2", "--layout", "separated", "--format", "pellr", "--devices", "cpu:2"},
	} {
		v := object(t, append([]string{"pagerank", webFile(t), "--top", "2", "--tol", "1e-12"}, args...)...)
		requireKeys(t, v, "iterations,iterations_by_segments,residual,converged,phases,seconds_by_segments,top")
		requireKeys(t, v["phases"], "read_s,build_s,iterate_s,convert_s,total_s")
		require.Equal(t, true, v["converged"])
		require.Less(t, v["residual"], 1e-12)
		require.Equal(t, 1.0, v["dangling"])
		sum := 0.0
		for _, n := range v["iterations_by_segments"].(map[string]any) {
			sum += n.(float64)
		}
		require.Equal(t, sum, v["iterations"])
		top := v["top"].([]any)
		require.Len(t, top, 2)
		require.Equal(t, 0.0, top[0].(map[string]any)["node"])
		require.InDelta(t, 0.313165, top[0].(map[string]any)["score"], 1e-6)
	}
}

func TestPagerankReads16BitsFirstWhereItIsAsked(t *testing.T) {
	for least, first := range map[string]float64{"16": 1, "32": 0} {
		v := object(t, "pagerank", webFile(t), "--precision", "cpms4", "--least-segment", least)
		bits := v["iterations_by_segments"].(map[string]any)
		if first == 0 {
			require.NotContains(t, bits, "1")
			continue
		}
		require.GreaterOrEqual(t, bits["1"], first)
	}
}

func TestPagerankWritesAllRanks(t *testing.T) {
	out := filepath.Join(t.TempDir(), "p.mtx")
	text := runOK(t, "pagerank", webFile(t), "--out", out)
	require.Contains(t, text, "converged after")
	f, err := os.Open(out)
	require.NoError(t, err)
	defer f.Close()
	p, err := mtx.ReadVector(context.Background(), f, out)
	require.NoError(t, err)
	require.Len(t, p, 5)
	sum := 0.0
	for _, v := range p {
		sum += v
	}
	require.InDelta(t, 1, sum, 1e-12)
}

func TestPagerankRefusesUnsupportedOptions(t *testing.T) {
	rect := filepath.Join(t.TempDir(), "rect.mtx")
	require.NoError(t, os.WriteFile(rect, []byte(head+"2 3 1\n1 1 1\n"), 0o600))
	for _, c := range []struct{ args, message string }{
		{"--damping 1", "--damping"}, {"--damping NaN", "--damping"}, {"--tol 0", "--tol"}, {"--tol -1", "--tol"}, {"--max-iter 0", "--max-iter"},
		{"--precision cpms3", "cpms3"}, {"--layout interleaved:65", "multiple of 64"}, {"--layout banks", "interleaved:BYTES"},
		{"--format jad", "jad"}, {"--weights none", "none"}, {"--weights folded --layout separated", "--layout"}, {"--top -1", "--top"},
		{"--precision cpms4 --least-segment 48", "use 16 or 32"}, {"--precision cpms2 --least-segment 16", "only --precision cpms4 reads 16 bits"}, {"--least-segment 16", "this is fp64"},
	} {
		var stdout, stderr bytes.Buffer
		args := append([]string{"pagerank", webFile(t)}, strings.Fields(c.args)...)
		require.Equal(t, exitUsage, run(context.Background(), args, &stdout, &stderr), c.args)
		require.Contains(t, stderr.String(), c.message)
	}
	var stdout, stderr bytes.Buffer
	require.Equal(t, exitUsage, run(context.Background(), []string{"pagerank", rect}, &stdout, &stderr))
	require.Contains(t, stderr.String(), "square")
}

func TestRanksAboveTheToleranceAreGivenWithExitCode1(t *testing.T) {
	for _, more := range [][]string{nil, {"--deterministic"}} {
		out := filepath.Join(t.TempDir(), "p.mtx")
		var stdout, stderr bytes.Buffer
		args := append([]string{"pagerank", webFile(t), "--max-iter", "3", "--json", "--quiet", "--out", out}, more...)
		require.Equal(t, exitFailed, run(context.Background(), args, &stdout, &stderr))
		require.Contains(t, stderr.String(), "msrep pagerank: not converged after 3 iterations: the last difference is 0.")
		require.Equal(t, 1, strings.Count(stderr.String(), "\n"))
		var v map[string]any
		require.NoError(t, json.Unmarshal(stdout.Bytes(), &v))
		require.Equal(t, false, v["converged"])
		require.Contains(t, v["failure"], "not converged after 3 iterations")
		require.Len(t, v["top"], 5)
		require.FileExists(t, out)
	}
}

func TestTheBestNodesAreThoseOfAllSorted(t *testing.T) {
	ranks := make([]float64, 1000)
	for i := range ranks {
		ranks[i] = float64(i * 7919 % 101)
	}
	all := make([]rankedNode, len(ranks))
	for i, s := range ranks {
		all[i] = rankedNode{int64(i), s}
	}
	ids := nodes.Numbers(len(ranks), nil)
	slices.SortStableFunc(all, func(a, b rankedNode) int { return cmp.Compare(b.Score, a.Score) })
	for _, k := range []int{0, 1, 2, 9, 10, 11, 500, 999, 1000, 1001, math.MaxInt} {
		require.Equal(t, all[:min(k, len(all))], topNodes(ranks, ids, k), k)
	}
	require.Equal(t, []rankedNode{}, topNodes(nil, ids, 3))
}

func TestPagerankReadsLinksIntoEachNodeInPlace(t *testing.T) {
	path, packed := "../../testdata/Harvard500.mtx.gz", filepath.Join(t.TempDir(), "links.msr")
	runs(t, "convert", path, packed, "--transpose")
	type top struct {
		Top []struct{ Node, Rank float64 }
	}
	rank := func(args ...string) (r top) {
		stdout, _ := runs(t, append([]string{"pagerank", "--json"}, args...)...)
		require.NoError(t, json.Unmarshal([]byte(stdout), &r))
		require.Len(t, r.Top, 5)
		return r
	}
	require.Equal(t, rank(path, "--format", "csr"), rank(packed, "--in-links"))
	var stdout, stderr bytes.Buffer
	require.Equal(t, 2, run(t.Context(), []string{"pagerank", packed, "--in-links", "--weights", "on"}, &stdout, &stderr))
	require.Contains(t, stderr.String(), "--in-links")
}
