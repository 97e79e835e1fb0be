package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// runs runs the command and returns its output.
func runs(t *testing.T, args ...string) (stdout, stderr string) {
	t.Helper()
	var out, bad bytes.Buffer
	require.Equal(t, exitOK, run(context.Background(), args, &out, &bad), bad.String())
	return out.String(), bad.String()
}

func textFile(t *testing.T, name, text string) string {
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func sumOfY(t *testing.T, args ...string) float64 {
	out, _ := runs(t, append(args, "--json")...)
	var r struct{ Y struct{ Sum float64 } }
	require.NoError(t, json.Unmarshal([]byte(out), &r))
	return r.Y.Sum
}

func TestFilesOfOtherProgramsAreRead(t *testing.T) {
	for name, text := range map[string]string{
		"a byte order mark":   "\xef\xbb\xbf" + head + "1 1 1\n1 1 2\n",
		"blanks":              "\n  " + head + "1 1 1\n1 1 2\n",
		"one %":               head[1:] + "1 1 1\n1 1 2\n",
		"Fortran's exponents": head + "1 1 1\n1 1 0.2D+01\n",
		"a vector":            "%%MatrixMarket vector array real general\n1\n2\n",
	} {
		require.Equal(t, 2.0, sumOfY(t, "spmv", textFile(t, "m.mtx", text)), name)
	}
}

func TestAVectorObjectIsReadAsXAndYAndRightHandSide(t *testing.T) {
	v := textFile(t, "v.mtx", "%%MatrixMarket vector array real general\n3\n1\n2\n3\n")
	m := textFile(t, "m.mtx", head+"3 3 3\n1 1 1\n2 2 1\n3 3 1\n")
	require.Equal(t, 6.0, sumOfY(t, "spmv", m, "--x", v))
	require.Equal(t, 9.0, sumOfY(t, "spmv", m, "--y", v, "--beta", "1"))
	x := filepath.Join(t.TempDir(), "x.mtx")
	runs(t, "solve", m, "--rhs", v, "--out", x)
	require.Equal(t, 6.0, sumOfY(t, "spmv", m, "--x", x))
}

func TestDifferencesFromTheFileAreReported(t *testing.T) {
	const head = "%%MatrixMarket matrix coordinate integer general\n"
	for _, c := range []struct{ name, text, note, field, value string }{
		{"m.mtx", head + "1 1 1\n1 1 9007199254740993\n", "m.mtx: integers that float64 does not hold are rounded to the nearest that it does, the first in line 3: the field is real", "real", "9.007199254740992e+15"},
		{"m.mtx", strings.Replace(head, "integer", "unsigned-integer", 1) + "1 1 1\n1 1 9223372036854775808\n", "m.mtx: some values do not fit a signed 64-bit integer: the field of ", "real", "9.223372036854776e+18"},
		{"m.mtx", head + "1 1 1\n1 1 9007199254740994\n", "", "integer", "9007199254740994"},
		{"m.mtx", head + "1 1 1\n1 1 1152921504606846976\n", "", "integer", "1152921504606846976"},
		{"m.mtx", strings.Replace(head, "integer", "real", 1) + "1 1 1\n1 1 -1e310\n", "m.mtx: values beyond the range of float64 are read as infinities, the first in line 3", "real", "-inf"},
		{"g.txt", "0 0 1082040961\n", "g.txt: the third column looks like a time", "real", "1.082040961e+09"},
	} {
		in, out := textFile(t, c.name, c.text), filepath.Join(t.TempDir(), "out.mtx")
		_, bad := runs(t, "convert", in, out)
		if c.note == "" {
			require.Empty(t, bad)
		} else {
			require.Contains(t, bad, c.note)
			require.Equal(t, 1, strings.Count(bad, "\n"))
		}
		text, err := os.ReadFile(out)
		require.NoError(t, err)
		require.Equal(t, fmt.Sprintf("%%%%MatrixMarket matrix coordinate %s general\n1 1 1\n1 1 %s\n", c.field, c.value), string(text))
		_, bad = runs(t, "convert", in, out, "--quiet")
		require.Empty(t, bad)
	}
	m := textFile(t, "m.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1\n")
	_, bad := runs(t, "spmv", m, "--x", textFile(t, "x.mtx", "%%MatrixMarket vector array real\n1\n1e310\n"))
	require.Contains(t, bad, "x.mtx: values beyond the range of float64 are read as infinities, the first in line 3")
}

func TestAnArchiveOfTheSuiteSparseCollectionIsAMatrix(t *testing.T) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for name, text := range map[string]string{"west/west.mtx": head + "2 2 1\n1 2 5\n", "west/west_b.mtx": "%%MatrixMarket matrix array real general\n2 1\n1\n1\n"} {
		require.NoError(t, w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(text))}))
		_, err := w.Write([]byte(text))
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	require.NoError(t, z.Close())
	path := textFile(t, "west.tar.gz", b.String())
	require.Equal(t, 5.0, sumOfY(t, "spmv", path))
	out, _ := runs(t, "info", path)
	require.True(t, strings.HasPrefix(out, "west\n"), out)
}

// gaps is a graph whose ids have gaps: 7 and 9 link to the largest, which links to 7.
const gaps = "# a comment\n7\t568770231\n9\t568770231\n568770231\t7\n"

func TestPagerankGivesTheIdsThatOccur(t *testing.T) {
	dense := textFile(t, "dense.txt", "0 2\n1 2\n2 0\n")
	path, out, array := textFile(t, "gaps.txt", gaps), filepath.Join(t.TempDir(), "r.txt"), filepath.Join(t.TempDir(), "r.mtx")
	text, _ := runs(t, "pagerank", path, "--json", "--top", "3", "--out", out)
	var r struct {
		Matrix struct{ Rows int }
		Top    []struct {
			Node  int64
			Score float64
		}
	}
	require.NoError(t, json.Unmarshal([]byte(text), &r))
	require.Equal(t, 3, r.Matrix.Rows)
	require.Equal(t, []int64{568770231, 7, 9}, []int64{r.Top[0].Node, r.Top[1].Node, r.Top[2].Node})
	runs(t, "pagerank", dense, "--out", array)
	scores, err := os.ReadFile(array)
	require.NoError(t, err)
	s := strings.Fields(strings.SplitN(string(scores), "\n3 1\n", 2)[1])
	ranks, err := os.ReadFile(out)
	require.NoError(t, err)
	require.Equal(t, fmt.Sprintf("# id value, 3 nodes\n7\t%s\n9\t%s\n568770231\t%s\n", s[0], s[1], s[2]), string(ranks))
}

func TestSpMVRenumbersEdgeListsOnly(t *testing.T) {
	path, out := textFile(t, "gaps.txt", gaps), filepath.Join(t.TempDir(), "y.txt")
	x := textFile(t, "x.mtx", "%%MatrixMarket matrix array real general\n3 1\n1\n20\n300\n")
	runs(t, "spmv", path, "--renumber", "--x", x, "--out", out)
	y, err := os.ReadFile(out)
	require.NoError(t, err)
	require.Equal(t, "# id value, 3 nodes\n7\t300\n9\t300\n568770231\t1\n", string(y))
	runs(t, "spmv", textFile(t, "dense.txt", "0 1\n"), "--renumber", "--out", out)
	y, err = os.ReadFile(out)
	require.NoError(t, err)
	require.Equal(t, "# id value, 2 nodes\n0\t1\n1\t0\n", string(y))

	var stdout, stderr bytes.Buffer
	m := textFile(t, "m.mtx", head+"1 1 1\n1 1 1\n")
	require.Equal(t, exitUsage, run(context.Background(), []string{"spmv", m, "--renumber"}, &stdout, &stderr))
	require.Equal(t, "msrep spmv: --renumber: applies to edge lists only, and "+m+" is not one: leave it out\n", stderr.String())
	stderr.Reset()
	require.Equal(t, exitUsage, run(context.Background(), []string{"spmv", path}, &stdout, &stderr))
	require.Contains(t, stderr.String(), "gaps.txt:2: node id 568770231 makes a matrix of 568770232 rows for 3 entries")
	require.Contains(t, stderr.String(), "where ids are renumbered, only those that occur count")
}
