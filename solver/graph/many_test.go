package graph

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/corpus"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/gen"
	"github.com/msrep-go/msrep/sparse/matio"
)

func TestManySeedsGiveTheRanksOfEachAlone(t *testing.T) {
	m, err := matio.Read(t.Context(), corpus.Testdata("Harvard500.mtx.gz")) // has dangling nodes
	require.NoError(t, err)
	defer m.Close()
	for _, devices := range []string{"cpu:1", "cpu:2"} {
		sys := open(t, devices)
		links, out, err := InLinks(t.Context(), m.CSR, false)
		require.NoError(t, err)
		plan := planOf(t, sys, links, msrep.PlanOptions{})
		for _, count := range []int{0, 1, 2, 17, 41} {
			seeds := make([]Seeds, count)
			for k := range seeds {
				seeds[k] = Seeds{Nodes: []int32{int32(k * 11), int32(k*11 + 3)}, Weights: []float64{1, float64(k)}}
			}
			for _, opt := range []Options{{}, {Dangling: DanglingUniform, Damping: 0.6}, {MaxIter: 3}} {
				got := make([]*Result, count)
				err := PageRanks(t.Context(), plan, out, seeds, opt, func(k int, r *Result) error {
					require.Nil(t, got[k], "once")
					got[k] = r
					return nil
				})
				require.NoError(t, err)
				for k, r := range got {
					if opt.Teleport, err = seeds[k].Teleport(m.Rows); err != nil {
						t.Fatal(err)
					}
					want, err := PageRank(t.Context(), sys, m.CSR, opt)
					require.NoError(t, err)
					require.InDelta(t, want.Iterations, r.Iterations, 1)
					require.Equal(t, want.Converged, r.Converged)
					require.Less(t, distance(want.Ranks, r.Ranks), 1e-9)
					require.Equal(t, want.Dangling, r.Dangling)
				}
				opt.Teleport = nil
			}
		}
	}
}

func TestBadSeedsAndVectorsAreRefused(t *testing.T) {
	sys := open(t, "cpu:1")
	a := dense(t, []float64{0, 1}, []float64{1, 0})
	plan := planOf(t, sys, a, msrep.PlanOptions{})
	out := []float64{1, 1}
	keep := func(int, *Result) error { return nil }
	for _, s := range []Seeds{
		{Nodes: []int32{}}, {Nodes: []int32{2}}, {Nodes: []int32{-1}}, {Nodes: []int32{1, 1}}, {Nodes: []int32{1}, Weights: []float64{0}},
		{Nodes: []int32{1}, Weights: []float64{1, 2}}, {Weights: []float64{1}}, {Weights: []float64{1, math.NaN()}}, {Weights: []float64{-1, 2}},
	} {
		require.True(t, sparse.IsInput(PageRanks(t.Context(), plan, out, []Seeds{s}, Options{}, keep)), "%+v", s)
	}
	require.True(t, sparse.IsInput(PageRanks(t.Context(), plan, out, nil, Options{}, nil)))
	require.True(t, sparse.IsInput(PageRanks(t.Context(), plan, out[:1], nil, Options{}, keep)))
	require.True(t, sparse.IsInput(PageRanks(t.Context(), nil, out, nil, Options{}, keep)))
	full := errors.New("full")
	require.ErrorIs(t, PageRanks(t.Context(), plan, out, []Seeds{{}}, Options{}, func(int, *Result) error { return full }), full)
	for _, v := range [][]float64{{1}, {1, 1, 1}, {0, 0}, {-1, 2}, {math.Inf(1), 1}, {math.NaN(), 1}, {math.MaxFloat64, math.MaxFloat64}} {
		for _, opt := range []Options{{Teleport: v}, {Start: v}} {
			_, err := PageRank(t.Context(), sys, a, opt)
			require.True(t, sparse.IsInput(err), "%v: %v", v, err)
			_, err = PageRankOver(t.Context(), plan, out, opt)
			require.True(t, sparse.IsInput(err), "%v: %v", v, err)
		}
	}
	for _, w := range []float64{-1, math.Inf(1), math.NaN()} {
		bad := dense(t, []float64{0, w}, []float64{1, 0})
		_, err := PageRank(t.Context(), sys, bad, Options{Weighted: true})
		require.ErrorContains(t, err, "the link from node 0 to node 1 has the weight")
		_, _, err = InLinks(t.Context(), bad, true)
		require.True(t, sparse.IsInput(err))
	}
	g, err := New(t.Context(), a, FormatAuto)
	require.NoError(t, err)
	_, err = g.PageRank(t.Context(), sys, Options{Weighted: true})
	require.ErrorContains(t, err, "NewWeighted")
	_, err = PageRank(t.Context(), sys, a, Options{Dangling: "none"})
	require.True(t, sparse.IsInput(err))
}

func TestAGraphOfLinksIntoEachNodeIsUsedInPlace(t *testing.T) {
	m, err := matio.Read(t.Context(), corpus.Testdata("Harvard500.mtx.gz"))
	require.NoError(t, err)
	defer m.Close()
	sys := open(t, "cpu:2")
	links, _, err := InLinks(t.Context(), m.CSR, false)
	require.NoError(t, err)
	for k := range links.Val {
		links.Val[k] = math.NaN()
	}
	g, err := FromInLinks(t.Context(), links)
	require.NoError(t, err)
	require.Same(t, &links.ColIdx[0], &g.in[0])
	for _, p := range []Precision{FP64, CPMS2, CPMS4} {
		want, err := PageRank(t.Context(), sys, m.CSR, Options{Format: FormatCSR, Precision: p})
		require.NoError(t, err)
		got, err := g.PageRank(t.Context(), sys, Options{Precision: p})
		require.NoError(t, err)
		require.Equal(t, want.Ranks, got.Ranks)
		require.Equal(t, want.Dangling, got.Dangling)
	}
	_, err = FromInLinks(t.Context(), &sparse.CSR[float64]{Rows: 1, Cols: 2, RowPtr: []int64{0, 0}})
	require.True(t, sparse.IsInput(err))
}

func TestAStartNearTheRanksSavesIterations(t *testing.T) {
	m, err := matio.Read(t.Context(), corpus.Testdata("Harvard500.mtx.gz"))
	require.NoError(t, err)
	defer m.Close()
	sys := open(t, "cpu:1")
	cold, err := PageRank(t.Context(), sys, m.CSR, Options{})
	require.NoError(t, err)
	warm, err := PageRank(t.Context(), sys, m.CSR, Options{Start: cold.Ranks})
	require.NoError(t, err)
	require.LessOrEqual(t, warm.Iterations, 2)
	require.Greater(t, cold.Iterations, 50)
}

func TestKatzSaysWhenAlphaIsTooLarge(t *testing.T) {
	sys := open(t, "cpu:1")
	// A cycle of 3 nodes has lambda = 1; 3 -> 0 changes nothing.
	a := dense(t, []float64{0, 1, 0, 0}, []float64{0, 0, 1, 0}, []float64{1, 0, 0, 0}, []float64{1, 0, 0, 0})
	links, _, err := InLinks(t.Context(), a, false)
	require.NoError(t, err)
	plan := planOf(t, sys, links, msrep.PlanOptions{})
	for _, alpha := range []float64{0.5, 0.99} {
		res, err := Katz(t.Context(), plan, KatzOptions{Alpha: alpha, MaxIter: 10000})
		require.NoError(t, err)
		require.True(t, res.Converged)
		require.Equal(t, 1.0, res.Scores[3])
		require.InDelta(t, 1+alpha*(1+res.Scores[2]), res.Scores[0], 1e-6)
	}
	for _, alpha := range []float64{1, 1.5, 1e160} {
		_, err := Katz(t.Context(), plan, KatzOptions{Alpha: alpha})
		require.ErrorIs(t, err, ErrDiverged)
		require.ErrorContains(t, err, "alpha must be below 1/lambda")
	}
	// A path has no walks longer than itself: lambda = 0, although the differences grow first.
	path, _, err := gen.Generate("banded:n=40,band=1")
	require.NoError(t, err)
	coo := &sparse.COO[float64]{Rows: path.Rows, Cols: path.Cols}
	for i := range path.Rows - 1 {
		coo.RowIdx, coo.ColIdx, coo.Val = append(coo.RowIdx, int32(i)), append(coo.ColIdx, int32(i+1)), append(coo.Val, 1)
	}
	links, _, err = InLinks(t.Context(), sparse.ToCSR[float64](coo), false)
	require.NoError(t, err)
	res, err := Katz(t.Context(), planOf(t, sys, links, msrep.PlanOptions{}), KatzOptions{Alpha: 3})
	require.NoError(t, err)
	require.InEpsilon(t, (math.Pow(3, 40)-1)/2, res.Scores[39], 1e-12)
	for _, o := range []KatzOptions{{Alpha: -1}, {Beta: math.NaN()}, {Tol: -1}, {MaxIter: -1}, {Start: []float64{1}}} {
		_, err := Katz(t.Context(), plan, o)
		require.True(t, sparse.IsInput(err), "%+v", o)
	}
}

func TestHITSOfAGraphWithoutLinksIsZero(t *testing.T) {
	sys := open(t, "cpu:1")
	plan := planOf(t, sys, &sparse.CSR[float64]{Rows: 2, Cols: 2, RowPtr: make([]int64, 3)}, msrep.PlanOptions{})
	res, err := HITS(t.Context(), plan, PowerOptions{})
	require.NoError(t, err)
	require.True(t, res.Converged)
	require.Equal(t, []float64{0, 0, 0, 0}, append(res.Hubs, res.Authorities...))
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = HITS(ended, plan, PowerOptions{})
	require.ErrorIs(t, err, context.Canceled)
	_, err = HITS(t.Context(), plan, PowerOptions{Start: []float64{0, 0}})
	require.True(t, sparse.IsInput(err))
}

// BenchmarkSeeds reports the time of a ranking of one seed after the other, and of each of 32 seeds at once.
func BenchmarkSeeds(b *testing.B) {
	a, _, err := gen.Generate("rmat:scale=17,edges=16")
	require.NoError(b, err)
	sys := open(b, "cpu:1")
	links, out, err := InLinks(b.Context(), a, false)
	require.NoError(b, err)
	plan, err := msrep.NewPlan(b.Context(), sys, links, msrep.PlanOptions{})
	require.NoError(b, err)
	for _, count := range []int{1, 32} {
		b.Run(fmt.Sprintf("%d-seeds", count), func(b *testing.B) {
			seeds := make([]Seeds, count)
			for k := range seeds {
				seeds[k] = Seeds{Nodes: []int32{int32(1001 * k)}}
			}
			begin := time.Now()
			for range b.N {
				require.NoError(b, PageRanks(b.Context(), plan, out, seeds, Options{Tol: 1e-8}, func(int, *Result) error { return nil }))
			}
			b.ReportMetric(1e3*time.Since(begin).Seconds()/float64(b.N*count), "ms/seed")
		})
	}
}
