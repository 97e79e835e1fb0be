package graph

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
)

// networkxCase is a graph of testdata/networkx.json, which testdata/expected.py writes.
type networkxCase struct {
	Name     string
	Nodes    int
	Links    [][3]float64
	PageRank []struct {
		Teleport []float64
		Weighted bool
		Dangling Dangling
		Ranks    []float64
	}
	HITS *struct{ Hubs, Authorities []float64 }
	Katz struct {
		Alpha  float64
		Scores []float64
	}
}

func (c *networkxCase) matrix(t *testing.T) *sparse.CSR[float64] {
	coo := &sparse.COO[float64]{Rows: c.Nodes, Cols: c.Nodes}
	for _, l := range c.Links {
		coo.RowIdx, coo.ColIdx, coo.Val = append(coo.RowIdx, int32(l[0])), append(coo.ColIdx, int32(l[1])), append(coo.Val, l[2])
	}
	a := sparse.ToCSR[float64](coo)
	require.NoError(t, a.Validate())
	return a
}

func networkx(t *testing.T) (all []networkxCase) {
	text, err := os.ReadFile("testdata/networkx.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &all))
	require.Len(t, all, 10)
	return all
}

func TestScoresAreThoseOfNetworkx(t *testing.T) {
	for _, devices := range []string{"cpu:1", "cpu:2", "sim:2"} {
		sys := open(t, devices)
		for _, c := range networkx(t) {
			a := c.matrix(t)
			require.Len(t, c.PageRank, 16)
			for k, w := range c.PageRank {
				if devices == "sim:2" && (c.Name != "self-links" || k%5 != 0) { // simulated GPUs are slow
					continue
				}
				opt := Options{Teleport: w.Teleport, Weighted: w.Weighted, Dangling: w.Dangling, Tol: 1e-13}
				for _, f := range []Format{FormatCSR, FormatELL, FormatPELLR} {
					opt.Format = f
					for _, p := range []Precision{FP64, CPMS2} {
						opt.Precision = p
						res, err := PageRank(t.Context(), sys, a, opt)
						require.NoError(t, err)
						require.InDeltaSlice(t, w.Ranks, res.Ranks, 1e-9, "%s %s %+v", devices, c.Name, opt)
					}
				}
			}
			if devices != "cpu:2" {
				continue
			}
			links, _, err := InLinks(t.Context(), a, false)
			require.NoError(t, err)
			katz, err := Katz(t.Context(), planOf(t, sys, links, msrep.PlanOptions{}), KatzOptions{Alpha: c.Katz.Alpha, Beta: 2, Tol: 1e-14})
			require.NoError(t, err)
			require.InDeltaSlice(t, c.Katz.Scores, katz.Scores, 1e-9, c.Name)
			if c.HITS == nil {
				continue
			}
			links, _, err = InLinks(t.Context(), a, true)
			require.NoError(t, err)
			hits, err := HITS(t.Context(), planOf(t, sys, links, msrep.PlanOptions{}), PowerOptions{Tol: 1e-13, MaxIter: 10000})
			require.NoError(t, err)
			require.True(t, hits.Converged)
			require.InDeltaSlice(t, c.HITS.Hubs, hits.Hubs, 1e-9, c.Name)
			require.InDeltaSlice(t, c.HITS.Authorities, hits.Authorities, 1e-9, c.Name)
		}
	}
}

func TestOperatorsGiveTheRanksOfNetworkx(t *testing.T) {
	sys := open(t, "cpu:2")
	for _, c := range networkx(t) {
		a := c.matrix(t)
		for _, weighted := range []bool{false, true} {
			links, out, err := InLinks(t.Context(), a, weighted)
			require.NoError(t, err)
			plan := planOf(t, sys, links, msrep.PlanOptions{})
			var seeds []Seeds
			var want [][]float64
			for _, w := range c.PageRank {
				if w.Weighted != weighted {
					continue
				}
				opt := Options{Teleport: w.Teleport, Dangling: w.Dangling, Tol: 1e-13}
				res, err := PageRankOver(t.Context(), plan, out, opt)
				require.NoError(t, err)
				require.InDeltaSlice(t, w.Ranks, res.Ranks, 1e-9, "%s %+v", c.Name, opt)
				if w.Dangling == DanglingTeleport {
					seeds, want = append(seeds, Seeds{Weights: w.Teleport}), append(want, w.Ranks)
				}
			}
			require.Len(t, seeds, 4)
			err = PageRanks(t.Context(), plan, out, seeds, Options{Tol: 1e-13}, func(k int, r *Result) error {
				require.InDeltaSlice(t, want[k], r.Ranks, 1e-9, "%s seeds %d", c.Name, k)
				want[k] = nil
				return nil
			})
			require.NoError(t, err)
			require.Equal(t, make([][]float64, 4), want, "each comes once")
		}
	}
}
