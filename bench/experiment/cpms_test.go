package experiment

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/bench/paper"
	"github.com/msrep-go/msrep/bench/record"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/solver"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/gen"
)

func cpmsSession(t *testing.T, c Config) (*Session, error) {
	t.Helper()
	s, err := New(c, record.New("test", []string{"bench"}))
	require.NoError(t, err)
	return s, cpmsPaper(context.Background(), s)
}

func TestTheFiguresOfTheCPMSPaperStandBesideOurs(t *testing.T) {
	steps := 0
	c := quick("cpu", 500)
	c.Progress = func(done, total int, _ string) {
		require.Less(t, done, total)
		steps++
	}
	s, err := cpmsSession(t, c)
	require.NoError(t, err)
	requireFull(t, s)
	graphs := len(cpmsGraphs(1000))
	require.Equal(t, graphs*(1+(1+2*len(cpmsWays("csr")))+(1+2*len(cpmsWays("ell")))), steps)
	tables := map[string][][]string{}
	for _, sec := range s.Page.Sections {
		for _, table := range sec.Tables {
			require.NotContains(t, tables, table.Name)
			tables[table.Name] = table.Rows
		}
	}
	require.Len(t, tables["cpms-table2"], graphs)
	require.Equal(t, []string{"Del", "64", "15", "49", "64", "1", "21", "64", "2", "88"}, tables["cpms-table2-paper"][1])
	require.Equal(t, "1.37", tables["cpms-fig7a-paper"][len(paper.CPMSGraphs)][2], "the mean of the paper at 1e-4")
	for _, name := range []string{"cpms-fig4-csr", "cpms-fig4-ell"} {
		require.Len(t, tables[name], len(countedCases)-firstCase)
		for _, cell := range tables[name][0][1:] { // 32 of 64 bits
			var over, strong float64
			_, err := fmt.Sscanf(cell, "%f (%f)", &over, &strong)
			require.NoError(t, err)
			require.True(t, over > 1 && over < 1.6 && strong < over, cell)
		}
	}
	require.Len(t, tables["cpms-fig9-csr"], len(cpmsCases("csr"))-firstCase)
	for _, row := range tables["cpms-fig11-1"] { // folded fp64 over itself
		for _, cell := range row[1:] {
			require.True(t, strings.HasSuffix(cell, " (1.00)"), cell)
		}
	}
	for _, row := range tables["cpms-fig5-ell"] {
		if strings.HasSuffix(row[0], "fp64") {
			require.Equal(t, []string{"0.0", "0.0", "100.0", "0.0", "100.0"}, row[1:])
		}
	}
}

func TestFigures7And8AreThoseOfADevice(t *testing.T) {
	s, err := New(quick("cpu", 500), record.New("test", nil))
	require.NoError(t, err)
	sys, err := msrep.Open(msrep.Config{Devices: "sim:1"})
	require.NoError(t, err)
	defer sys.Close()
	g := cpmsGraphs(60)[1]
	a, _, err := gen.Generate(g.spec)
	require.NoError(t, err)
	r := cpmsResults{cpmsGraph: g, onGPU: map[string][]cpmsRun{}}
	for _, format := range cpmsFormats {
		r.onGPU[format], err = s.cpmsPageRank(t.Context(), sys, cpmsGPUWays(), format, g.name, a, 1)
		require.NoError(t, err)
	}
	sec := cpmsFigures7And8([]cpmsResults{r})
	require.Len(t, sec.Tables, 2*(len(cpmsGPUWays())-1))
	require.Len(t, sec.Tables[0].Rows, 2)
	require.True(t, strings.HasSuffix(sec.Tables[0].Rows[0][1], " (1.00)"), "folded fp64 over itself")
}

func TestTheCPMSPaperIsNotModelled(t *testing.T) {
	_, err := cpmsSession(t, quick("sim:dgx1", 500))
	require.True(t, sparse.IsInput(err), "%v", err)
}

func TestTimeToAToleranceCountsTheMedianOfEachKindOfIteration(t *testing.T) {
	r := cpmsRun{
		way: cpmsWay{opt: solver.PageRankOptions{Precision: solver.CPMS4}},
		steps: []solver.PageRankStep{
			{Segments: 2, Residual: 1e-2}, {Segments: 2, Residual: 1e-5, Convert: time.Second}, {Segments: 3, Residual: 1e-9}, {Segments: 3, Residual: 1e-13},
		},
		iterate: map[int]float64{32: 1, 48: 10}, convert: map[int]float64{32: 100},
	}
	for _, c := range []struct {
		tol  float64
		want float64
		n    map[int]int
	}{{1, 1, map[int]int{32: 1}}, {1e-4, 2, map[int]int{32: 2}}, {1e-8, 112, map[int]int{32: 2, 48: 1}}, {1e-12, 122, map[int]int{32: 2, 48: 2}}} {
		seconds, n := r.to(c.tol)
		require.Equal(t, c.want, seconds, "%g", c.tol)
		require.Equal(t, c.n, n)
	}
}

func TestGraphsHaveTheLinksThatWereAskedFor(t *testing.T) {
	const links = 200_000
	for _, g := range cpmsGraphs(links) {
		a, _, err := gen.Generate(g.spec)
		require.NoError(t, err)
		require.InEpsilon(t, links, a.NNZ(), 0.05, g.name)
	}
	require.InDelta(t, 4, geometricMean([]float64{2, 8}), 1e-12)
}
