package mtx_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/internal/matrixtest"
	"github.com/msrep-go/msrep/sparse/mtx"
)

// serial reads a valid coordinate file of real values with simple code. It returns the
// sums of all entries by position, added in the order of the file.
func serial(text string) map[[2]int]float64 {
	sums := map[[2]int]float64{}
	var sym string
	sizes := false
	for n, line := range strings.Split(text, "\n") {
		words := strings.Fields(line)
		switch {
		case n == 0:
			sym = strings.ToLower(words[4])
		case len(words) == 0 || words[0][0] == '%':
		case !sizes:
			sizes = true
		default:
			i, _ := strconv.Atoi(words[0])
			j, _ := strconv.Atoi(words[1])
			v, _ := strconv.ParseFloat(words[2], 64)
			sums[[2]int{i - 1, j - 1}] += v
			if i != j && sym == "symmetric" {
				sums[[2]int{j - 1, i - 1}] += v
			}
			if i != j && sym == "skew-symmetric" {
				sums[[2]int{j - 1, i - 1}] -= v
			}
		}
	}
	return sums
}

func compare(t require.TestingT, text string) {
	want := serial(text)
	m, _, err := read(text)
	require.NoError(t, err)
	require.EqualValues(t, len(want), m.NNZ())
	for i := range m.Rows {
		for k := m.RowPtr[i]; k < m.RowPtr[i+1]; k++ {
			v, ok := want[[2]int{i, int(m.ColIdx[k])}]
			require.True(t, ok)
			require.Equal(t, v, m.Val[k]) // added in the same order: the same bits
			require.True(t, k == m.RowPtr[i] || m.ColIdx[k-1] < m.ColIdx[k], "columns are sorted")
		}
	}
}

var separators = []string{" ", "\t", "  ", " \t"}

func TestUnsortedAndDuplicateEntriesAgreeWithASerialParser(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sym := rapid.SampledFrom([]string{"general", "symmetric", "skew-symmetric"}).Draw(t, "symmetry")
		n := rapid.IntRange(1, 9).Draw(t, "n")
		entries := rapid.IntRange(0, 60).Draw(t, "entries")
		var b strings.Builder
		fmt.Fprintf(&b, "%%%%MatrixMarket matrix coordinate real %s\n%d %d %d\n", sym, n, n, entries)
		for range entries {
			i, j := rapid.IntRange(1, n).Draw(t, "i"), rapid.IntRange(1, n).Draw(t, "j")
			v := rapid.Float64Range(-1e6, 1e6).Draw(t, "v")
			if i == j && sym == "skew-symmetric" {
				v = 0
			}
			s := rapid.SampledFrom(separators).Draw(t, "separator")
			fmt.Fprintf(&b, "%s%d%s%d%s%v%s", rapid.SampledFrom([]string{"", " ", "% 1 1 1\n", "\n"}).Draw(t, "before"), i, s, j, s, v, rapid.SampledFrom([]string{"\n", "\r\n", " \n"}).Draw(t, "end"))
		}
		compare(t, b.String())
	})
}

func TestSeveralChunksOfDuplicatesAgreeWithASerialParser(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, sym := range []string{"general", "symmetric"} {
		const n, entries = 300, 100_000
		var b strings.Builder
		fmt.Fprintf(&b, "%%%%MatrixMarket matrix coordinate real %s\n%d %d %d\n", sym, n, n, entries)
		for range entries {
			fmt.Fprintf(&b, "%d %d %v\n", 1+r.IntN(n), 1+r.IntN(n), r.NormFloat64())
		}
		compare(t, b.String())
	}
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
		m, src, err := mtx.Read(context.Background(), strings.NewReader(string(text)), "f", lim)
		if err != nil {
			require.True(t, sparse.IsInput(err), "%v", err)
			require.NotContains(t, err.Error(), "\n")
			return
		}
		require.NoError(t, m.Validate())
		again, _, err := mtx.Read(context.Background(), strings.NewReader(write(t, m, src)), "f", lim)
		if sparse.IsInput(err) && (m.Rows > 1<<12 || m.Cols > 1<<12) {
			return // fewer entries are left after duplicates have added up
		}
		require.NoError(t, err)
		matrixtest.SameText(t, m, again)
		_, _ = mtx.ReadVector(context.Background(), strings.NewReader(string(text)), "f")
	})
}
