package mtx_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/corpus"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/internal/matrixtest"
	"github.com/msrep-go/msrep/sparse/matio"
	"github.com/msrep-go/msrep/sparse/mtx"
)

// inParts reads a file in n parts and combines them.
func inParts(path string, n int) (*sparse.CSR[float64], sparse.Source, error) {
	var blocks []sparse.Triples[float64]
	var last *mtx.Part
	var all int64
	var note string
	field := sparse.Field("")
	for i := range n {
		p, err := mtx.ReadPart(context.Background(), path, i, n, sparse.Limits{})
		if err != nil {
			return nil, sparse.Source{}, err
		}
		blocks = append(blocks, p.Triples...)
		all += p.Entries()
		last = p
		if note == "" {
			note = p.Source.Note
		}
		if field == "" || p.Source.Field == sparse.Real {
			field = p.Source.Field
		}
	}
	if err := last.CheckEntries(all); err != nil {
		return nil, sparse.Source{}, err
	}
	src := last.Source
	src.Stored, src.Note, src.Field = all, note, field
	return sparse.Assemble(last.Rows, last.Cols, src.Symmetry, blocks), src, nil
}

// twoFiles writes text to two files, one of them gzipped.
func twoFiles(t *testing.T, text string) (plain, zipped string) {
	plain = filepath.Join(t.TempDir(), "f.mtx")
	require.NoError(t, os.WriteFile(plain, []byte(text), 0o600))
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write([]byte(text))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	zipped = plain + ".gz"
	require.NoError(t, os.WriteFile(zipped, b.Bytes(), 0o600))
	return plain, zipped
}

func TestPartsTogetherAreTheFile(t *testing.T) {
	for _, c := range valid {
		plain, zipped := twoFiles(t, c.text)
		for _, path := range []string{plain, zipped} {
			for _, n := range []int{1, 2, 3, 7, 50} {
				m, src, err := inParts(path, n)
				require.NoError(t, err, "%s in %d parts", c.name, n)
				require.Equal(t, c.entries, matrixtest.Entries(m), "%s in %d parts", c.name, n)
				require.Equal(t, c.source, src, "%s in %d parts", c.name, n)
			}
		}
	}
}

// long has lines of many lengths, comments and blank lines, and more than one chunk.
func long(entries, fault int) string {
	r := rand.New(rand.NewPCG(1, 2))
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s%% of this and that\n\n1000 1000 %d\n", general, entries)
	for k := range entries {
		switch r.IntN(20) {
		case 0:
			fmt.Fprintf(&b, "%% %*d\n", r.IntN(100), k)
		case 1:
			b.WriteString("  \n")
		}
		if k == fault {
			b.WriteString("1 1001 1\n")
			continue
		}
		fmt.Fprintf(&b, "%d %d %.*f\n", 1+r.IntN(1000), 1+r.IntN(1000), r.IntN(15), r.Float64()-0.5)
	}
	return b.String()
}

func TestPartsOfALongFileHaveTheBitsOfTheWhole(t *testing.T) {
	entries := 200_000
	if testing.Short() {
		entries = 50_000
	}
	plain, zipped := twoFiles(t, long(entries, -1))
	want, err := matio.Read(context.Background(), plain)
	require.NoError(t, err)
	for _, path := range []string{plain, zipped} {
		for _, n := range []int{1, 3, 4} {
			m, _, err := inParts(path, n)
			require.NoError(t, err)
			require.Equal(t, want.CSR, m, "%d parts", n)
		}
	}
	p, err := mtx.ReadPart(context.Background(), plain, 1, 4, sparse.Limits{})
	require.NoError(t, err)
	require.InDelta(t, entries/4, p.Entries(), float64(entries)/200, "parts are about equal")
}

func TestLinesOfEveryFormGiveTheirEntries(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	pick := func(from ...string) string { return from[r.IntN(len(from))] }
	for _, field := range []string{"real", "integer", "pattern"} {
		const n = 5000
		var want sparse.Triples[float64]
		var text strings.Builder
		fmt.Fprintf(&text, "%%%%MatrixMarket matrix coordinate %s general\n%d %d %d\n", field, sparse.MaxDim, sparse.MaxDim, n)
		for range n {
			i, j := 1+r.Int32N(math.MaxInt32-1)>>r.IntN(31), 1+r.Int32N(math.MaxInt32-1)>>r.IntN(31)
			v, val := 1.0, ""
			switch field {
			case "real":
				v = math.Round(r.NormFloat64()*1e3) / 8
				val = strconv.FormatFloat(v, pick("f", "g", "e")[0], -1, 64)
			case "integer":
				v = float64(r.Int64N(2e6)-1e6) * 1e3
				val = strconv.FormatInt(int64(v), 10)
			}
			want.Row, want.Col, want.Val = append(want.Row, i-1), append(want.Col, j-1), append(want.Val, v)
			words := strings.Fields(fmt.Sprint(i, j, " ", val))
			if r.IntN(2) == 0 { // as most are
				text.WriteString(strings.Join(words, " ") + "\n")
				continue
			}
			text.WriteString(pick("", " ", "\n", "% 1 1 1\n", "\r\n\t"))
			for k, w := range words {
				if w[0] != '-' {
					text.WriteString(pick("", "", "+"))
				}
				text.WriteString(w)
				if k+1 < len(words) {
					text.WriteString(pick(" ", "  ", "\t", " \t "))
				}
			}
			text.WriteString(pick("\n", " \n", "\r\n", "\t\n"))
		}
		path := filepath.Join(t.TempDir(), "f.mtx")
		require.NoError(t, os.WriteFile(path, []byte(text.String()), 0o600))
		p, err := mtx.ReadPart(context.Background(), path, 0, 1, sparse.Limits{EmptyLines: -1})
		require.NoError(t, err)
		var got sparse.Triples[float64]
		for _, b := range p.Triples {
			got.Row, got.Col, got.Val = append(got.Row, b.Row...), append(got.Col, b.Col...), append(got.Val, b.Val...)
		}
		if field == "pattern" {
			want.Val = nil
		}
		require.True(t, slices.Equal(want.Row, got.Row) && slices.Equal(want.Col, got.Col) && slices.Equal(want.Val, got.Val), field)
	}
}

func TestFaultsInPartsHaveTheirLines(t *testing.T) {
	blank := general + "2 2 2\n1 1 1\n" + strings.Repeat("\n", 40) + "3 3 3\n"
	for _, text := range []string{long(100_000, 77_777), blank} {
		plain, zipped := twoFiles(t, text)
		_, want := matio.Read(context.Background(), plain)
		require.Error(t, want)
		for _, n := range []int{1, 2, 3, 11} {
			_, _, err := inParts(plain, n)
			require.EqualError(t, err, want.Error(), "%d parts", n)
			require.True(t, sparse.IsInput(err))
			_, _, err = inParts(zipped, n)
			require.ErrorContains(t, err, want.Error()[len(plain):], "%d parts", n)
		}
	}
}

func TestAMissingEntryIsFoundWhenAllPartsAreRead(t *testing.T) {
	for text, says := range map[string]string{
		general + "2 2 3\n1 1 1\n2 2 2\n":                    "has 2 entries, not the 3 that line 2 declares",
		general + "2 2 1\n1 1 1\n2 2 2\n":                    "has 2 entries, not the 1 that line 2 declares",
		"%%MatrixMarket matrix array real general\n2 1\n1\n": "file ends after 1 of the 2 entries",
	} {
		plain, _ := twoFiles(t, text)
		_, _, err := inParts(plain, 2)
		require.ErrorContains(t, err, says)
		require.True(t, sparse.IsInput(err))
	}
}

func TestPartsOfRealMatricesMakeTheWhole(t *testing.T) {
	for _, name := range []string{"gre_343", "memplus"} {
		path := corpus.Testdata(name + ".mtx.gz")
		want, err := matio.Read(context.Background(), path)
		require.NoError(t, err)
		m, src, err := inParts(path, 3)
		require.NoError(t, err)
		require.Equal(t, want.CSR, m)
		require.Equal(t, want.Source, src)
	}
}
