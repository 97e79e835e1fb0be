package snap_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/internal/corpus"
	"github.com/msrep-go/msrep/internal/fileio"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/internal/matrixtest"
	"github.com/msrep-go/msrep/sparse/internal/snap"
	"github.com/msrep-go/msrep/sparse/mtx"
)

func read(text string) (*sparse.CSR[float64], sparse.Source, error) {
	return snap.Read(context.Background(), strings.NewReader(text), "g.txt", sparse.Limits{})
}

func write(t require.TestingT, m *sparse.CSR[float64], src sparse.Source) string {
	var b bytes.Buffer
	require.NoError(t, snap.Write(&b, m, src))
	return b.String()
}

var valid = []struct {
	name, text string
	order      int
	entries    string
	field      sparse.Field
	stored     int64
}{
	{"plain", "# Directed graph\n# Nodes: 9 Edges: 2\n0\t1\n2\t0\n", 3, "0,1=1 2,0=1", "pattern", 2},
	{"no comments", "0 1\n", 2, "0,1=1", "pattern", 1},
	{"comments and blank lines anywhere", "\n% a\n0 1\n\n # b\n\t\n1 0\n#", 2, "0,1=1 1,0=1", "pattern", 2},
	{"CRLF and blanks", " 0 \t 1 \r\n1\t0\r\n\r\n", 2, "0,1=1 1,0=1", "pattern", 2},
	{"repeated edges count once", "1 0\n0 1\n1 0\n1 0\n", 2, "0,1=1 1,0=1", "pattern", 4},
	{"ids are kept", "3 5\n", 6, "3,5=1", "pattern", 1},
	{"the largest id may be a source", "5 3\n", 6, "5,3=1", "pattern", 1},
	{"loop", "0 0\n", 1, "0,0=1", "pattern", 1},
	{"weights", "# u v w\n0 1 2.5\n1 0 -1e2\n", 2, "0,1=2.5 1,0=-100", "real", 2},
	{"weights of repeated edges add up", "0 1 2\n0 1 3\n1 1 0\n", 2, "0,1=5 1,1=0", "real", 3},
	{"no last line end", "0 1\n1 1", 2, "0,1=1 1,1=1", "pattern", 2},
}

func TestValidListsGiveTheirEdges(t *testing.T) {
	for _, c := range valid {
		t.Run(c.name, func(t *testing.T) {
			m, src, err := read(c.text)
			require.NoError(t, err)
			require.NoError(t, m.Validate())
			require.Equal(t, []int{c.order, c.order}, []int{m.Rows, m.Cols})
			require.Equal(t, c.entries, matrixtest.Entries(m))
			require.Equal(t, sparse.Source{Field: c.field, Symmetry: sparse.General, Stored: c.stored}, src)
		})
	}
}

var bad = []struct {
	name, text string
	line       int64
	message    string
}{
	{"empty file", "", 0, "file ends without an edge"},
	{"comments only", "# a\n\n# b\n", 3, "file ends without an edge"},
	{"one word", "0 1\n2\n", 2, "edge has 1 words, two node ids, as in line 1, are needed"},
	{"one word first", "# c\n7\n", 2, "edge has 1 words"},
	{"four words first", "0 1 2 3\n", 1, "edge has 4 words, two node ids and at most a weight"},
	{"a weight too many", "#\n0 1\n0 1 5\n", 3, "edge has 3 words, two node ids, as in line 2"},
	{"a weight too few", "0 1 5\n0 1\n", 2, "two node ids and a weight, as in line 1"},
	{"negative id", "0 1\n\n-1 2\n", 3, "node id -1 is negative: ids start at 0"},
	{"negative target", "0 -2\n", 1, "node id -2 is negative"},
	{"id not a number", "0 a\n", 1, `node id "a" is not a whole number`},
	{"id real", "0.5 1\n", 1, `node id "0.5" is not a whole number`},
	{"commas", "0,1\n", 1, "edge has 1 words"},
	{"commas and blanks", "0, 1\n", 1, `node id "0," is not a whole number`},
	{"id beyond 32 bits", "0 1\n0 4294967296\n", 2, `node id "4294967296" is too large: ids up to 2147483646`},
	{"id one too large", "0 2147483647\n", 1, `node id "2147483647" is too large`},
	{"id beyond 64 bits", "0 1\n99999999999999999999 0\n", 2, "is too large"},
	{"large id, few edges", "0 1\n1 2000000000\n2000000000 2\n", 2, "node id 2000000000 makes a matrix of 2000000001 rows for 3 entries"},
	{"no blank between ids", "0 1\n1+3\n", 2, "edge has 1 words"},
	{"no blank before the weight", "0 1 2\n0 1+2\n", 2, "edge has 2 words"},
	{"weight not a number", "0 1 x\n", 1, `weight "x" is not a number`},
	{"Matrix Market", "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1\n", 3, "two node ids and a weight, as in line 2"},
	{"long line", "0 1\n" + strings.Repeat("1 ", 1<<16), 2, "line is longer than 65536 bytes"},
	{"binary", "\x1f\x8b\x08\x00\n", 1, "edge has 1 words"},
}

func TestBadListsAreRefusedWithTheLineAndTheReason(t *testing.T) {
	for _, c := range bad {
		t.Run(c.name, func(t *testing.T) {
			m, _, err := read(c.text)
			require.Nil(t, m)
			var in *sparse.InputError
			require.ErrorAs(t, err, &in)
			require.Equal(t, "g.txt", in.Subject)
			require.Equal(t, c.line, in.Line, err)
			require.Contains(t, in.Msg, c.message)
			require.NotContains(t, err.Error(), "\n")
		})
	}
}

func TestFaultsInLongListsHaveTheirTrueLine(t *testing.T) {
	var b strings.Builder
	b.WriteString("# comment\n")
	for k := range 400_000 {
		fmt.Fprintf(&b, "%d %d\n", k%1000, (k*7)%1013)
	}
	lines := strings.SplitAfter(b.String(), "\n")
	m, src, err := read(b.String())
	require.NoError(t, err)
	require.EqualValues(t, 400_000, src.Stored)
	require.Equal(t, 1013, m.Rows)
	require.False(t, slices.ContainsFunc(m.Val, func(v float64) bool { return v != 1 }))
	lines[350_000-1] = "0 -1\n"
	for _, first := range []int{3, 200_000, 349_999} {
		lines[first-1] = "0 1 1\n"
		_, _, err = read(strings.Join(lines, ""))
		require.ErrorContains(t, err, fmt.Sprintf("g.txt:%d: edge has 3 words", first))
		lines[first-1] = "0 1\n"
	}
	// The largest id is far down, and comes again.
	lines[350_000-1] = "0 1\n"
	lines[200_000-1], lines[399_000-1] = "0 1999999999\n", "1999999999 0\n"
	_, _, err = read(strings.Join(lines, ""))
	require.ErrorContains(t, err, "g.txt:200000: node id 1999999999")
}

func TestLimitsAreKept(t *testing.T) {
	_, _, err := snap.Read(context.Background(), strings.NewReader("0 5000\n"), "g.txt", sparse.Limits{EmptyLines: 1 << 12})
	require.ErrorContains(t, err, "g.txt:1: node id 5000 makes a matrix of 5001 rows")
	m, _, err := snap.Read(context.Background(), strings.NewReader("0 5000\n"), "g.txt", sparse.Limits{EmptyLines: -1})
	require.NoError(t, err)
	require.Equal(t, 5001, m.Rows)
}

func TestReadFaultsAndCancellationPassThrough(t *testing.T) {
	fault := sparse.Inputf("g.txt", "gzip content ends early")
	for _, head := range []string{"", "# c\n", "0 1\n", "0 1\n1"} {
		_, _, err := snap.Read(context.Background(), io.MultiReader(strings.NewReader(head), iotest.ErrReader(fault)), "g.txt", sparse.Limits{})
		require.Equal(t, fault, err)
	}
	pipe, w := io.Pipe()
	defer w.Close()
	go io.WriteString(w, "0 1\n")
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	_, _, err := snap.Read(ctx, pipe, "g.txt", sparse.Limits{})
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

// edgesOf returns the edges of m by the ids of its nodes.
func edgesOf(m *sparse.CSR[float64], ids []int64) map[[2]int64]float64 {
	edges := map[[2]int64]float64{}
	name := func(k int64) int64 {
		if ids == nil {
			return k
		}
		return ids[k]
	}
	for i := range m.Rows {
		for k := m.RowPtr[i]; k < m.RowPtr[i+1]; k++ {
			edges[[2]int64{name(int64(i)), name(int64(m.ColIdx[k]))}] = m.Val[k]
		}
	}
	return edges
}

func TestOnlyIdsThatOccurAreNodesWhereTheyAreRenumbered(t *testing.T) {
	for _, c := range []struct {
		text string
		ids  []int64
	}{
		{"0 1\n2 0\n", nil},
		{"3 5\n5 3\n", []int64{3, 5}},
		{"0 0\n", nil},
		{"7 7\n", []int64{7}},
		{"1 2 0.5\n2 3 4\n1 2 1\n", []int64{1, 2, 3}},
		{"568770231 17\n17 64\n", []int64{17, 64, 568770231}},
		{"2147483646 2147483647\n0 9223372036854775807\n2147483647 2147483648\n", []int64{0, 2147483646, 2147483647, 2147483648, 9223372036854775807}},
		{"9000000000000000000 4294967296\n", []int64{4294967296, 9000000000000000000}},
	} {
		m, src, ids, err := snap.ReadRenumbered(t.Context(), strings.NewReader(c.text), "g.txt", sparse.Limits{})
		require.NoError(t, err)
		require.NoError(t, m.Validate())
		require.Equal(t, c.ids, ids, c.text)
		require.EqualValues(t, strings.Count(c.text, "\n"), src.Stored)
		if c.ids != nil {
			require.Equal(t, len(c.ids), m.Rows)
		}
		for edge := range edgesOf(m, ids) {
			require.Contains(t, c.text, fmt.Sprintf("%d %d", edge[0], edge[1]))
		}
	}
	for text, message := range map[string]string{
		"0 1\n0 9223372036854775808\n": `g.txt:2: node id "9223372036854775808" is too large: ids up to 9223372036854775807`,
		"0 -1\n":                       "g.txt:1: node id -1 is negative",
	} {
		_, _, _, err := snap.ReadRenumbered(t.Context(), strings.NewReader(text), "g.txt", sparse.Limits{})
		require.ErrorContains(t, err, message)
	}
}

// For ids of every density, in lists of several chunks, the edges are those of a map.
func TestRenumberedEdgesKeepTheirIds(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, most := range []int64{100, 40_000, 1 << 24, 1 << 31, 1 << 62} {
		for _, weighted := range []bool{false, true} {
			want := map[[2]int64]float64{}
			var b strings.Builder
			for range 120_000 {
				e := [2]int64{r.Int64N(most), r.Int64N(most)}
				fmt.Fprintf(&b, "%d\t%d", e[0], e[1])
				if weighted {
					b.WriteString("\t0.5")
					want[e] += 0.5
				} else {
					want[e] = 1
				}
				b.WriteString("\n")
			}
			m, _, ids, err := snap.ReadRenumbered(t.Context(), strings.NewReader(b.String()), "g.txt", sparse.Limits{})
			require.NoError(t, err)
			require.True(t, slices.IsSorted(ids))
			require.Equal(t, want, edgesOf(m, ids), "ids below %d", most)
		}
	}
}

func TestAThirdColumnOfTimesIsNoted(t *testing.T) {
	const note = "the third column looks like a time: the matrix uses it as weights, and adds those of repeated edges"
	rising := func(from, step int, n int) string {
		var b strings.Builder
		for k := range n {
			fmt.Fprintf(&b, "%d %d %d\n", k%7, k%5, from+k*step)
		}
		return b.String()
	}
	for text, want := range map[string]string{
		"0 1 1082040961\n1 2 1082155839\n0 1 1082414391\n": note,
		"0 1 1082040961000\n1 2 1082040960999\n":           note,
		rising(0, 20, 100_000):                             note,
		rising(0, 20, 99):                                  "",
		rising(0, 0, 1000):                                 "",
		rising(0, 1, 1000) + "0 1 3\n":                     "",
		"0 1 1082040961.5\n":                               "",
		"0 1 1082040961\n1 2 7\n":                          "",
		"0 1 nan\n":                                        "",
		"0 1\n":                                            "",
	} {
		_, src, err := read(text)
		require.NoError(t, err)
		require.Equal(t, want, src.Note, "%.60q", text)
	}
}

func TestAWeightBeyondFloat64IsAnInfinityWithANote(t *testing.T) {
	m, src, err := read("0 1 1\n1 0 -1e999\n")
	require.NoError(t, err)
	require.Equal(t, []float64{1, math.Inf(-1)}, m.Val)
	require.Equal(t, "values beyond the range of float64 are read as infinities, the first in line 2", src.Note)
}

// The matrix of the collection uses the ids, the smallest of which is 3, as 1-based
// indices. Ids of an edge list are 0-based, so the list has one more empty row and column
// at the start.
func TestWikiVoteIsTheMatrixOfTheCollection(t *testing.T) {
	open := func(elem ...string) *fileio.File {
		f, err := fileio.Open(corpus.Shared(t, elem...))
		require.NoError(t, err)
		t.Cleanup(func() { f.Close() })
		return f
	}
	f := open("matrices", "formats", "wiki-Vote.txt.gz")
	got, src, err := snap.Read(context.Background(), f, f.Name, sparse.Limits{})
	require.NoError(t, err)
	require.Equal(t, sparse.Source{Field: sparse.Pattern, Symmetry: sparse.General, Stored: 103_689}, src)
	g := open("matrices", "wiki-Vote.mtx.gz")
	want, _, err := mtx.Read(context.Background(), g, g.Name, sparse.Limits{})
	require.NoError(t, err)
	require.EqualValues(t, 0, got.RowPtr[1])
	require.Equal(t, want.RowPtr, got.RowPtr[1:])
	for k := range want.ColIdx {
		want.ColIdx[k]++
	}
	require.Equal(t, want.ColIdx, got.ColIdx)
	require.Equal(t, want.Val, got.Val)
	require.Equal(t, []int{8298, 8298}, []int{got.Rows, got.Cols})
}

func TestListsAreWrittenWithAHeaderLine(t *testing.T) {
	m, src, err := read("2 0\n0 1\n")
	require.NoError(t, err)
	require.Equal(t, "# Nodes: 3 Edges: 2\n0\t1\n2\t0\n", write(t, m, src))
	require.Equal(t, "# Nodes: 3 Edges: 2\n0\t1\t1\n2\t0\t1\n", write(t, m, sparse.Source{Field: sparse.Real}))
	m.Val[1] = 0.1
	require.Equal(t, "# Nodes: 3 Edges: 2\n0\t1\t1\n2\t0\t0.1\n", write(t, m, src), "a pattern with other values has weights")
}

func TestMatricesThatAListCannotHoldGiveAnError(t *testing.T) {
	wide := &sparse.CSR[float64]{Rows: 1, Cols: 2, RowPtr: []int64{0, 0}}
	err := snap.Write(io.Discard, wide, sparse.Source{})
	require.True(t, sparse.IsInput(err))
	require.ErrorContains(t, err, "1 rows and 2 columns: an edge list holds square matrices only")
	require.True(t, sparse.IsInput(snap.Write(io.Discard, nil, sparse.Source{})))
	require.ErrorContains(t, snap.Write(io.Discard, &sparse.CSR[float64]{Rows: 1, Cols: 1, RowPtr: []int64{0, 0}}, sparse.Source{}), "no entries")
	r, w := io.Pipe()
	fault := errors.New("disk full")
	r.CloseWithError(fault)
	m, src, err := read("0 1\n")
	require.NoError(t, err)
	require.ErrorIs(t, snap.Write(w, m, src), fault)
}

func TestWhatIsWrittenReadsBackTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "n")
		weighted := rapid.Bool().Draw(t, "weighted")
		// The last node has an edge, which preserves the order of the matrix.
		last := int32(n - 1)
		tr := sparse.Triples[float64]{Row: []int32{last}, Col: []int32{last}, Val: []float64{1}}
		for range rapid.IntRange(0, 40).Draw(t, "edges") {
			tr.Row = append(tr.Row, int32(rapid.IntRange(0, n-1).Draw(t, "i")))
			tr.Col = append(tr.Col, int32(rapid.IntRange(0, n-1).Draw(t, "j")))
			tr.Val = append(tr.Val, rapid.Float64Range(-1e300, 1e300).Draw(t, "v"))
		}
		m := sparse.Assemble(n, n, sparse.General, []sparse.Triples[float64]{tr})
		src := sparse.Source{Field: sparse.Real}
		if !weighted {
			src.Field = sparse.Pattern
			for k := range m.Val {
				m.Val[k] = 1
			}
		}
		again, got, err := read(write(t, m, src))
		require.NoError(t, err)
		require.Equal(t, m.RowPtr, again.RowPtr)
		require.Equal(t, m.ColIdx, again.ColIdx)
		for k, v := range m.Val {
			require.Equal(t, math.Float64bits(v), math.Float64bits(again.Val[k]))
		}
		require.Equal(t, src.Field, got.Field)
		require.Equal(t, m.NNZ(), got.Stored)
	})
}

func FuzzRead(f *testing.F) {
	for _, c := range valid {
		f.Add([]byte(c.text))
	}
	for _, c := range bad {
		if len(c.text) < 1<<10 {
			f.Add([]byte(c.text))
		}
	}
	lim := sparse.Limits{EmptyLines: 1 << 12}
	f.Fuzz(func(t *testing.T, text []byte) {
		m, src, err := snap.Read(context.Background(), bytes.NewReader(text), "g", lim)
		if err != nil {
			require.True(t, sparse.IsInput(err), "%v", err)
			require.NotContains(t, err.Error(), "\n")
			return
		}
		require.NoError(t, m.Validate())
		renumbered, _, ids, err := snap.ReadRenumbered(context.Background(), bytes.NewReader(text), "g", lim)
		require.NoError(t, err)
		require.NoError(t, renumbered.Validate())
		require.Equal(t, fmt.Sprint(edgesOf(m, nil)), fmt.Sprint(edgesOf(renumbered, ids)))
		again, _, err := snap.Read(context.Background(), strings.NewReader(write(t, m, src)), "g", lim)
		if sparse.IsInput(err) && m.Rows > 1<<12 {
			return // fewer edges are left after repeated ones have become one
		}
		require.NoError(t, err)
		require.Equal(t, m.RowPtr, again.RowPtr)
		require.Equal(t, m.ColIdx, again.ColIdx)
	})
}

func TestListsWithFewerEdgesThanTheyStateAreNoted(t *testing.T) {
	for text, want := range map[string]string{
		"# a\n# Nodes: 5 Edges: 9\n0 1\n1 2\n":                          "has 2 edges, fewer than the 9 that line 2 states: the file may be cut short",
		"% nodes: 5 edges: 3\n0 1\n1 2\n":                               "has 2 edges, fewer than the 3 that line 1 states: the file may be cut short",
		"# Nodes: 5 Edges: 2\n0 1\n1 2\n":                               "",
		"# Nodes: 5 Edges: 1\n0 1\n1 2\n":                               "",
		"# Edges: many\n# Edges:\n# Edges: -1\n0 1\n":                   "",
		strings.Repeat("#\n", 3000) + "0 1\n":                           "",
		strings.Repeat("#\n", 900) + "# Edges: 2\n#\n0 1\n":             "has 1 edges, fewer than the 2 that line 901 states: the file may be cut short",
		"# Nodes: 2 Edges: 2\n" + strings.Repeat("#\n", 2000) + "0 1\n": "has 1 edges, fewer than the 2 that line 1 states: the file may be cut short",
	} {
		_, src, err := snap.Read(t.Context(), strings.NewReader(text), "g.txt", sparse.Limits{})
		require.NoError(t, err)
		require.Equal(t, want, src.Note)
	}
}

func TestFaultsBehindManyCommentsNameTheirLine(t *testing.T) {
	_, _, err := snap.Read(t.Context(), strings.NewReader(strings.Repeat("# c\n", 100_000)+"0 x\n"), "g.txt", sparse.Limits{})
	require.ErrorContains(t, err, "g.txt:100001: ")
}
