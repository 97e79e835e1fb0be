package nodes

import (
	"bytes"
	"context"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/sparse"
)

var ctx = context.Background()

func file(t *testing.T, name, text string) string {
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func TestNodesAreFoundByTheirIDs(t *testing.T) {
	for _, c := range []struct {
		ids     *IDs
		known   map[string]int32
		unknown []string
	}{
		{Texts([]string{"b", "a", "7"}), map[string]int32{"b": 0, "a": 1, "7": 2}, []string{"", "c", "07", "0"}},
		{Numbers(3, []int64{2, 5, 1 << 40}), map[string]int32{"2": 0, "5": 1, "1099511627776": 2}, []string{"", "0", "3", "a", "99999999999999999999"}},
		{Numbers(3, nil), map[string]int32{"0": 0, "2": 2}, []string{"3", "-1", "4294967296"}},
	} {
		for id, k := range c.known {
			got, ok := c.ids.Node(id)
			require.True(t, ok, id)
			require.Equal(t, k, got, id)
		}
		for _, id := range c.unknown {
			_, ok := c.ids.Node(id)
			require.False(t, ok, id)
		}
	}
}

func TestIDsComeBackFromTheirFile(t *testing.T) {
	want := []string{"a", " b,c", "#d", `"e"`, "é f"}
	var b bytes.Buffer
	require.NoError(t, Write(&b, want))
	x, err := Read(ctx, file(t, "ids.txt", b.String()), len(want))
	require.NoError(t, err)
	for k, id := range want {
		require.Equal(t, id, x.ID(k))
		got, ok := x.Node(id)
		require.True(t, ok)
		require.EqualValues(t, k, got)
	}
	require.ErrorContains(t, Write(&b, []string{"a\nb"}), "contains a line end")
}

func TestBadFilesOfIDsAreRefused(t *testing.T) {
	for text, message := range map[string]string{
		"a\n":       "1 ids; the graph has 2 nodes",
		"a\nb\nc\n": ":3: more ids than the 2 nodes of the graph",
		"a\na\n":    `:2: id "a" is that of line 1, too`,
		"a\n\n":     ":2: the id of node 1 is empty",
	} {
		_, err := Read(ctx, file(t, "ids.txt", text), 2)
		require.ErrorContains(t, err, message)
		require.True(t, sparse.IsInput(err))
	}
}

func TestScoresComeBackFromTheirFile(t *testing.T) {
	ids := []string{"a", "b,c", "#d", `"e"`, "f\tg", " h", "i "}
	want := []float64{1, 0.1, math.Pi, 0, 1e-300, 2, 3}
	for name, sep := range map[string]byte{"s.csv": ',', "s.TSV": '\t'} {
		var b bytes.Buffer
		require.NoError(t, Texts(ids).WriteScores(&b, sep, Column{"score", want}))
		k := 0
		require.NoError(t, ReadScores(ctx, file(t, name, b.String()), func(s Score) error {
			require.Equal(t, Score{ids[k], want[k], int64(k + 2)}, s)
			k++
			return nil
		}))
		require.Equal(t, len(ids), k)
	}
	var b bytes.Buffer
	require.NoError(t, Numbers(2, nil).WriteScores(&b, ',', Column{"authority", want[:2]}, Column{"hub", want[2:4]}))
	require.Equal(t, "node,authority,hub\n0,1,3.1415926535897931\n1,0.10000000000000001,0\n", b.String())
}

func TestLinesOfScoresHaveAnySeparator(t *testing.T) {
	for _, text := range []string{"New York 1\nb 2\n", "# c\n\nNew York\t1\nb\t2", "id,weight\r\nNew York, 1\r\n\"b\",2\r\n", "id weight\nNew York  1\n b 2 \n"} {
		got := map[string]float64{}
		require.NoError(t, ReadScores(ctx, file(t, "s", text), func(s Score) error { got[s.ID] = s.Value; return nil }), text)
		require.Equal(t, map[string]float64{"New York": 1, "b": 2}, got, text)
	}
	for text, message := range map[string]string{
		"a 1\nb\n": ":2: a node id and a number are needed", "a 1\nb x\n": `:2: "x" is not a number`, "a nan\n": `:1: "nan" is not a number`, "a,1\nb,2,3\n": ":2: a node id and a number", "a,1\n,2\n": ":2: a node id",
	} {
		err := ReadScores(ctx, file(t, "s", text), func(Score) error { return nil })
		require.ErrorContains(t, err, message)
		require.True(t, sparse.IsInput(err))
	}
}
