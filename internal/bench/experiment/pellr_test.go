package experiment

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/bench"
	"github.com/msrep-go/msrep/internal/bench/record"
	"github.com/msrep-go/msrep/internal/corpus"
	"github.com/msrep-go/msrep/internal/plot"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/ellpack"
)

func TestTheFormatsOfThePELLRPaperAreCompared(t *testing.T) {
	c := quick("cpu:1", 4000)
	c.Mats, c.Interpreted = corpus.Testdata(), 100_000
	s := session(t, c, "pellr")
	requireFull(t, s)
	sec := s.Page.Sections[0]
	names := map[string]plot.Figure{}
	for _, f := range sec.Figures {
		names[f.Name] = f
	}
	for _, want := range []string{"6", "8", "9", "10", "11", "11-warp", "11-sectors", "12", "12-warp", "12-sectors"} {
		require.Contains(t, names, "pellr-fig"+want)
	}
	require.Equal(t, plot.Measured, names["pellr-fig6"].Series[0].Origin)
	require.Equal(t, plot.Counted, names["pellr-fig6"].Series[1].Origin)
	claims := sec.Tables[0]
	require.Len(t, claims.Rows, len(pellrClaims))
	require.Equal(t, "memplus", sec.Tables[2].Rows[len(sec.Tables[2].Rows)-1][0], "the largest sigma comes last")
	table1 := sec.Tables[3]
	require.Equal(t, []string{"qh1484", "1484", "6110"}, table1.Rows[0][:3])
	require.Contains(t, table1.Rows[0][7], "gen:rows:")
	require.Equal(t, plot.Ranked([]string{"qh1484*", "memplus"}), names["pellr-fig6-table1"].Names, "others have more than 8000 entries")
	require.Len(t, names["pellr-fig12"].Names, len(sec.Tables[2].Rows))
	measured, counted := 0, 0
	for _, r := range s.Record.Rows {
		switch r.Source {
		case record.Measured:
			measured++
			require.Positive(t, r.Bytes, r.Key())
			require.Positive(t, r.OfBandwidth, r.Key())
		case record.Counted:
			counted++
		}
	}
	require.Positive(t, measured)
	require.Positive(t, counted)
}

func TestWithoutAFolderTheFormatsAreComparedOnGeneratedMatrices(t *testing.T) {
	c := quick("sim:dgx1", 400)
	c.Interpreted = 20_000
	s := session(t, c, "pellr")
	requireFull(t, s)
	require.GreaterOrEqual(t, len(s.Page.Sections[0].Tables[2].Rows), 20)
	for _, r := range s.Record.Rows {
		require.Equal(t, record.Counted, r.Source, "a model has no times of these formats")
	}
	for _, f := range s.Page.Sections[0].Figures {
		for _, line := range f.Series {
			require.NotEqual(t, plot.Measured, line.Origin)
		}
	}
}

func TestMatricesWithoutValuesAreComparedWithRandomOnes(t *testing.T) {
	c := quick("cpu:1", 400)
	c.Mats, c.Interpreted = t.TempDir(), 20_000
	text := "%%MatrixMarket matrix coordinate pattern symmetric\n60 60 60\n"
	for i := range 60 {
		text += fmt.Sprintf("%d %d\n", i+1, i/2+1)
	}
	require.NoError(t, os.WriteFile(filepath.Join(c.Mats, "tree.mtx"), []byte(text), 0o600))
	s := session(t, c, "pellr")
	require.Equal(t, "tree", s.Page.Sections[0].Tables[2].Rows[0][0])
	require.Equal(t, "random values", s.Page.Sections[0].Tables[2].Rows[0][6])
	require.Equal(t, "tree~", s.Page.Sections[0].Figures[0].Names[0].Label)
}

func TestAFolderWithoutMatricesIsRefused(t *testing.T) {
	c := quick("cpu:1", 4000)
	c.Mats = t.TempDir()
	s, err := New(c, record.New("test", nil))
	require.NoError(t, err)
	require.True(t, sparse.IsInput(s.Run(context.Background(), []Experiment{{"pellr", "", pellr}})))
	c.Mats = filepath.Join(c.Mats, "none")
	_, err = New(c, record.New("test", nil))
	require.True(t, sparse.IsInput(err), "an empty folder is refused even if matrices could be generated")
}

// fakePELLR has two matrices: on the first, PELLR is twice as fast as ELLR and half as fast as HYB; on the second,
// all formats are equally fast.
func fakePELLR() *pellrView {
	runs := func(ellr, hyb float64) []bench.FormatRun {
		nan := math.NaN()
		return []bench.FormatRun{
			{Format: ellpack.FormatPELLR, Rounds: []float64{2, 4, 8, 2}, Counted: bench.Counted{Instructs: 100, Distinct: 10}},
			{Format: ellpack.FormatELLR, Rounds: []float64{2 * ellr, 4 * ellr, nan, 2 * ellr}, Counted: bench.Counted{Instructs: int64(100 * ellr), Distinct: 10}},
			{Format: ellpack.FormatHYB, Rounds: []float64{2 * hyb, 4 * hyb, 8 * hyb, 1e9}},
		}
	}
	return &pellrView{place: "cpu:1", matrices: []bench.PELLRMatrix{
		{Name: "memplus", NNZ: 10, StdDev: 2, Runs: runs(2, 0.5)},
		{Name: "other", NNZ: 10, StdDev: 20, Runs: runs(1, 1)},
	}}
}

func TestRatiosAreThoseOfTheLeastTimes(t *testing.T) {
	v := fakePELLR()
	c := v.measures()
	require.Len(t, c, 3)
	r, ok := c[0].over(&v.matrices[0], ellpack.FormatELLR)
	require.True(t, ok)
	require.Equal(t, 2.0, r)
	r, ok = c[0].over(&v.matrices[0], ellpack.FormatHYB)
	require.True(t, ok)
	require.Equal(t, 0.5, r, "the disturbed round does not matter")
	_, ok = c[1].over(&v.matrices[0], ellpack.FormatHYB)
	require.False(t, ok, "hyb was not interpreted")
	require.InDelta(t, math.Sqrt2, v.mean(c[1], ellpack.FormatELLR, sigma(-1, math.Inf(1))), 1e-12)
	n, of := v.ahead(c[1], ellpack.FormatELLR)
	require.Equal(t, []int{1, 2}, []int{n, of})
}

func TestStatementsOfThePaperAreJudgedByTheirNumbers(t *testing.T) {
	v := fakePELLR()
	found := map[string]string{}
	for _, row := range v.claimTable().Rows {
		found[row[0]] = row[4]
	}
	require.Equal(t, "1, does not hold", found["PELLR over ELLR, sigma > 10"])
	require.Equal(t, "2, does not hold", found["PELLR over ELLR on memplus"])
	require.Equal(t, "0.5, holds", found["PELLR over HYB on memplus: HYB is ahead"])
	require.Equal(t, "-", found["the same, and ave > 20, max-min > 10"])
	require.Equal(t, "-", found["PELLR over BiJAD, the highest"])
	f := v.ratioFigure("8", ellpack.FormatHYB)
	last := f.Series[len(f.Series)-1]
	require.Equal(t, plot.Paper, last.Origin)
	require.Equal(t, []float64{0.7}, last.Y)
	require.Equal(t, []float64{1}, last.X)
	require.Equal(t, []plot.Mark{{X: 1.5, Label: "σ>10"}}, f.Marks)
}
