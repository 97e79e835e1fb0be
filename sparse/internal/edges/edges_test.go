package edges

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/lines"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/internal/matrixtest"
)

func read(text string, opt Options) (*List, error) {
	return Read(context.Background(), strings.NewReader(text), "g.csv", opt, sparse.Limits{})
}

func TestListsGiveTheirEdgesAndIDs(t *testing.T) {
	for _, c := range []struct {
		name, text string
		opt        Options
		ids        string // joined by |
		entries    string
	}{
		{"commas", "a,b\nc,a\n", Options{}, "a|b|c", "0,1=1 2,0=1"},
		{"tabs, and blanks in ids", "New York\tParis\nParis\tRome\n", Options{}, "New York|Paris|Rome", "0,1=1 1,2=1"},
		{"semicolons, and commas in ids", "a,b;c\nc;d,e\n", Options{}, "a,b|c|d,e", "0,1=1 1,2=1"},
		{"spaces", "a  b\n \tb c \n", Options{}, "a|b|c", "0,1=1 1,2=1"},
		{"a separator of one's own", "a|b\nb|c,d\n", Options{Separator: '|'}, "a|b|c,d", "0,1=1 1,2=1"},
		{"numbers keep their text and order", "7,07\n3,7\n", Options{}, "7|07|3", "0,1=1 2,0=1"},
		{"header by words", "package,depends\na,b\n", Options{}, "a|b", "0,1=1"},
		{"header over numbers", "x,y\n1,2\n", Options{}, "1|2", "0,1=1"},
		{"header with weight", "p,q,Weight\na,b,2.5\na,b,1\nb,a,-1e2\n", Options{}, "a|b", "0,1=3.5 1,0=-100"},
		{"weight in the fourth column", "p,q,year,weight\na,b,1999,4\n", Options{}, "a|b", "0,1=4"},
		{"weights by option", "a b 2\nb a 3\n", Options{Weighted: true}, "a|b", "0,1=2 1,0=3"},
		{"weights by option under a header", "a b w\nb a 3\n", Options{Weighted: true}, "b|a", "0,1=3"},
		{"third field not used", "a,b,2\na,b,3\n", Options{}, "a|b", "0,1=1"},
		{"words that are an edge", "source,target\na,b\n", Options{Header: HeaderAbsent}, "source|target|a|b", "0,1=1 2,3=1"},
		{"a header of other words", "x,y\na,b\n", Options{Header: HeaderPresent}, "a|b", "0,1=1"},
		{"one known word is an edge", "source,a\na,b\n", Options{}, "source|a|b", "0,1=1 1,2=1"},
		{"repeated edges count once", "a,b\na,b\n", Options{}, "a|b", "0,1=1"},
		{"comments, blank lines, CRLF, byte order mark", "\xef\xbb\xbf# c\r\n\r\n  \na,b\r\n% d,e,f\r\nb,c\r\n", Options{}, "a|b|c", "0,1=1 1,2=1"},
		{"byte order mark before an edge", "\xef\xbb\xbfa,b\n", Options{}, "a|b", "0,1=1"},
		{"quotes", "\"a,\"\"x\"\"\", b\n\" #c\" ,\"b\"\n", Options{}, `a,"x"|b| #c`, "0,1=1 2,1=1"},
		{"quotes between spaces", "\"a b\" c\nc  \"d\"\n", Options{}, "a b|c|d", "0,1=1 1,2=1"},
		{"a quote within a field", "a\"x,5\"\n", Options{}, `a"x|5"`, "0,1=1"},
		{"no last line end", "a,b\nb,b", Options{}, "a|b", "0,1=1 1,1=1"},
		{"loop", "a,a\n", Options{}, "a", "0,0=1"},
		{"tabs, where a field may be empty", "p\tq\tlabel\na\tb\t\nb\ta\tx\n", Options{Header: HeaderPresent}, "a|b", "0,1=1 1,0=1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l, err := read(c.text, c.opt)
			require.NoError(t, err)
			require.NoError(t, l.Matrix.Validate())
			require.Equal(t, c.ids, strings.Join(l.IDs, "|"))
			require.Equal(t, []int{len(l.IDs), len(l.IDs)}, []int{l.Matrix.Rows, l.Matrix.Cols})
			require.Equal(t, c.entries, matrixtest.Entries(l.Matrix))
		})
	}
}

func TestAGuessIsNoted(t *testing.T) {
	for text, note := range map[string]string{
		"a,b\n":                      "",
		"p,q,weight\na,b,1\n":        "",
		"x,y\n1,2\n":                 "",
		"\nsource,target\na,b\n":     "line 2 is taken as a header, not as an edge",
		"a,b,2\n":                    "the fields after the second are not used: no header names one of them weight",
		"a,b,x\na,c,1e999\n":         "the fields after the second are not used: no header names one of them weight",
		"p,q,weight\na,b,1e999\n":    "values beyond the range of float64 are read as infinities, the first in line 2",
		"Source_ID,Target-ID\na,b\n": "line 1 is taken as a header, not as an edge",
	} {
		l, err := read(text, Options{})
		require.NoError(t, err, text)
		require.Equal(t, note, l.Source.Note, text)
	}
}

func TestBadListsAreRefusedWithTheLineAndTheReason(t *testing.T) {
	long := strings.Repeat("a,b\n", 400_000)
	for _, c := range []struct {
		name, text string
		opt        Options
		line       int64
		message    string
	}{
		{"empty", "", Options{}, 0, "file ends without an edge"},
		{"comments only", "# a\n\n% b\n", Options{}, 3, "file ends without an edge"},
		{"header only", "\nsource,target\n", Options{}, 2, "file ends without an edge"},
		{"one field", "a\nb\n", Options{}, 1, "edge has one field, two node ids are needed, separated by spaces"},
		{"one field of others", "a\nb\n", Options{Likely: ','}, 1, "separated by ,"},
		{"a field too few", "a,b\n\n# c\nb\n", Options{}, 4, "edge has 1 fields, 2, as in line 1, are needed: \"b\""},
		{"a field too many", "a,b\na,b,c\n", Options{}, 2, "edge has 3 fields, 2, as in line 1"},
		{"ragged after many lines", long + "c\n", Options{}, 400_001, "edge has 1 fields"},
		{"fields unlike the header", "p,q,weight\na,b\n", Options{}, 2, "edge has 2 fields, 3, as in line 1"},
		{"empty source", "a,b\n,b\n", Options{}, 2, "a node id is empty"},
		{"empty target", "a,b\nb,\n", Options{}, 2, "a node id is empty"},
		{"empty id in quotes", "a,b\nb,\"\"\n", Options{}, 2, "a node id is empty"},
		{"weight no number", "p,q,weight\na,b,1\na,b,x\n", Options{}, 3, `weight "x" is not a number`},
		{"weight with a comma", "p;q;weight\na;b;0,5\n", Options{}, 2, `weight "0,5" is not a number`},
		{"weight empty", "p,q,weight\na,b,\n", Options{}, 2, `weight "" is not a number`},
		{"weight NaN", "a b nan\n", Options{Weighted: true}, 1, `weight "nan" is not a number`},
		{"no weights", "a,b\n", Options{Weighted: true}, 1, "weights are asked for, but edges have 2 fields"},
		{"quote without end", "a,b\n\"a,b\nc\",d\n", Options{}, 2, "the quoted field has no end on its line"},
		{"quote without end first", "\"a,b\n", Options{}, 1, "the quoted field has no end on its line"},
		{"text after a quote", "a,b\n\"a\"b,c\n", Options{}, 2, "other text follows a quoted field"},
		{"zero byte", "a,b\na,b\x00\n", Options{}, 2, "a node id has a zero byte"},
		{"UTF-16", "\xff\xfea\x00,\x00", Options{}, 1, "byte order mark of UTF-16"},
		{"long line", "a,b\na," + strings.Repeat("b", 1<<17), Options{}, 2, "line is longer than 65536 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l, err := read(c.text, c.opt)
			require.Nil(t, l)
			var in *sparse.InputError
			require.ErrorAs(t, err, &in)
			require.Equal(t, "g.csv", in.Subject)
			require.Equal(t, c.line, in.Line, err)
			require.Contains(t, in.Msg, c.message)
			require.NotContains(t, err.Error(), "\n")
		})
	}
	for _, opt := range []Options{{Separator: '"'}, {Separator: '\n'}, {Separator: 0xc3}, {Header: "yes"}} {
		_, err := read("a,b\n", opt)
		require.True(t, sparse.IsInput(err), "%+v: %v", opt, err)
	}
}

func TestLongListsHaveTheNodesOfEncodingCSV(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var text bytes.Buffer
	w := csv.NewWriter(&text)
	for range 200_000 { // several chunks
		name := func() string {
			return fmt.Sprintf("%s %d", []string{"a", `"`, ",", "é", " x"}[rng.IntN(5)], rng.IntN(1+rng.IntN(60_000)))
		}
		require.NoError(t, w.Write([]string{name(), name(), fmt.Sprint(rng.IntN(9))}))
	}
	w.Flush()
	rows, err := csv.NewReader(bytes.NewReader(text.Bytes())).ReadAll()
	require.NoError(t, err)
	number := map[string]int32{}
	var ids []string
	var from, to []int32
	var val []float64
	for _, row := range rows {
		var k [2]int32
		for i := range k {
			id := row[i]
			if _, ok := number[id]; !ok {
				number[id] = int32(len(ids))
				ids = append(ids, id)
			}
			k[i] = number[id]
		}
		from, to, val = append(from, k[0]), append(to, k[1]), append(val, float64(row[2][0]-'0'))
	}
	want, err := sparse.FromTriples(len(ids), len(ids), from, to, val)
	require.NoError(t, err)
	l, err := read(text.String(), Options{Weighted: true})
	require.NoError(t, err)
	require.Equal(t, ids, l.IDs)
	require.Equal(t, want, l.Matrix)
	require.EqualValues(t, 200_000, l.Source.Stored)
}

func TestTooManyNodesAreRefused(t *testing.T) {
	m := merger{name: "g", most: 3}
	p := parser{layout: layout{separator: ',', fields: 2, first: 1}, name: "g"}
	err := lines.Each(context.Background(), lines.NewReader(strings.NewReader("a,b\nb,c\nc,d\n"), "g"), p.parse, m.take)
	require.EqualError(t, err, "g:1: more than 3 nodes up to the 3 lines from here on are not supported")
}

// FuzzRead: for any bytes, Read returns a valid matrix with the ids of its nodes, all
// different, or an InputError.
func FuzzRead(f *testing.F) {
	for _, text := range []string{"a,b\n\"c \"\"d\",a\n", "p;q;weight\n1;2;0.5\n", "x y 3\ny x 4", "#\n\xef\xbb\xbfa\tb\r\n", "source,target\na,b\n", "\"a\nb\",c"} {
		f.Add([]byte(text), byte(0), false)
		f.Add([]byte(text), byte(' '), true)
	}
	f.Fuzz(func(t *testing.T, text []byte, sep byte, weighted bool) {
		l, err := Read(context.Background(), bytes.NewReader(text), "fuzz", Options{Separator: sep, Weighted: weighted}, sparse.Limits{})
		if err != nil {
			require.True(t, sparse.IsInput(err), "%v", err)
			return
		}
		require.NoError(t, l.Matrix.Validate())
		require.Equal(t, len(l.IDs), l.Matrix.Rows)
		require.NotContains(t, l.IDs, "")
		sorted := slices.Clone(l.IDs)
		slices.Sort(sorted)
		require.Len(t, slices.Compact(sorted), len(l.IDs))
		if l.Source.Field == sparse.Pattern {
			for _, v := range l.Matrix.Val {
				require.Equal(t, 1.0, v)
			}
		}
	})
}

func BenchmarkRead(b *testing.B) {
	var text bytes.Buffer
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2_000_000 {
		fmt.Fprintf(&text, "package-%d,package-%d\n", rng.IntN(200_000), rng.IntN(200_000))
	}
	b.SetBytes(int64(text.Len()))
	for b.Loop() {
		if _, err := read(text.String(), Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
