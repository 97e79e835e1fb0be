package graph

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/cases"
	"github.com/msrep-go/msrep/internal/corpus"
	"github.com/msrep-go/msrep/kernels/cpu"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/cpms"
	"github.com/msrep-go/msrep/sparse/gen"
	"github.com/msrep-go/msrep/sparse/matio"
)

func TestMain(m *testing.M) { cases.Main(m, "100") }

func open(t testing.TB, devices string) *msrep.System {
	t.Helper()
	return openAs(t, msrep.Config{Devices: devices, NUMA: msrep.NUMAOff})
}

// openAs opens a System that is closed at the latest when the test ends.
func openAs(t testing.TB, c msrep.Config) *msrep.System {
	t.Helper()
	sys, err := msrep.Open(c)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, sys.Close()) })
	return sys
}

// best returns the nodes with the k highest ranks; of equal ranks, the lower node first.
func best(p []float64, k int) (nodes []int) {
	for n, rank := range p {
		at := slices.IndexFunc(nodes, func(o int) bool { return p[o] < rank })
		if at < 0 {
			at = len(nodes)
		}
		if at < k {
			nodes = slices.Insert(nodes, at, n)
			nodes = nodes[:min(k, len(nodes))]
		}
	}
	return nodes
}

// expected is a line of pagerank.tsv.
type expected struct {
	large      bool // too large for every combination of options
	graph      *sparse.CSR[float64]
	iterations map[float64]int
	top        []int
	score      []float64
}

func eachExpected(t *testing.T, f func(t *testing.T, e expected)) {
	for _, row := range corpus.Table(t, corpus.Shared(t, "expected", "pagerank.tsv")) {
		t.Run(row["name"], func(t *testing.T) {
			if testing.Short() && len(row["links"]) > 6 {
				t.Skip("large")
			}
			m, err := matio.Read(context.Background(), corpus.Shared(t, "matrices", row["name"]+".mtx.gz"))
			require.NoError(t, err)
			defer m.Close()
			e := expected{graph: m.CSR, large: m.NNZ() > 100_000, iterations: map[float64]int{}}
			require.Equal(t, row["links"], strconv.FormatInt(m.NNZ(), 10))
			for tol, column := range map[float64]string{1e-4: "iterations_1e-4", 1e-7: "iterations_1e-7", 1e-10: "iterations_1e-10"} {
				e.iterations[tol], err = strconv.Atoi(row[column])
				require.NoError(t, err)
			}
			for _, f := range strings.Fields(row["top5"]) {
				node, score, _ := strings.Cut(f, ":")
				n, err := strconv.Atoi(node)
				require.NoError(t, err)
				s, err := strconv.ParseFloat(score, 64)
				require.NoError(t, err)
				e.top, e.score = append(e.top, n), append(e.score, s)
			}
			f(t, e)
		})
	}
}

func distance(p, q []float64) (d float64) {
	for i := range p {
		d += math.Abs(p[i] - q[i])
	}
	return d
}

func TestPageRankNeedsTheIterationsThatSciPyNeeds(t *testing.T) {
	sys := open(t, "cpu:1")
	eachExpected(t, func(t *testing.T, e expected) {
		for _, format := range []Format{FormatCSR, FormatELL, FormatPELLR} {
			for _, w := range []Weights{WeightsFolded, WeightsStored} {
				if e.large && ((format == FormatCSR) != (w == WeightsFolded) || format == FormatPELLR) {
					continue
				}
				for tol, iterations := range e.iterations {
					if e.large && tol == 1e-7 {
						continue
					}
					r, err := PageRank(context.Background(), sys, e.graph, Options{Tol: tol, Format: format, Weights: w})
					require.NoError(t, err)
					require.Equal(t, iterations, r.Iterations, "%s, %s, %g", format, w, tol)
					require.True(t, r.Converged)
					require.Less(t, r.Residual, tol)
					if tol == 1e-10 {
						require.Equal(t, e.top, best(r.Ranks, 5), "%s, %s", format, w)
						for i, n := range e.top {
							require.InDelta(t, e.score[i], r.Ranks[n], 1e-9)
						}
					}
				}
			}
		}
	})
}

func TestAdaptivePrecisionLosesNoMoreThanOneIteration(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes a third of the time of all tests here")
	}
	sys := open(t, "cpu:1")
	eachExpected(t, func(t *testing.T, e expected) {
		graphs := map[Format]*Graph{}
		for _, format := range []Format{FormatAuto, FormatCSR, FormatELL, FormatPELLR} {
			var err error
			graphs[format], err = New(t.Context(), e.graph, format)
			require.NoError(t, err)
		}
		exact := map[float64]*Result{}
		for tol := range e.iterations {
			var err error
			exact[tol], err = graphs[FormatAuto].PageRank(t.Context(), sys, Options{Tol: tol})
			require.NoError(t, err)
		}
		for _, p := range []Precision{CPMS2, CPMS4} {
			for _, format := range []Format{FormatCSR, FormatELL, FormatPELLR} {
				for _, bank := range []int{128, 8192, cpms.Separated} {
					for _, w := range []Weights{WeightsFolded, WeightsStored} {
						if w == WeightsFolded && bank != cpms.Separated {
							continue // there are no values to keep in banks
						}
						if bank == 128 && format != FormatCSR || bank == 8192 && format != FormatELL {
							continue
						}
						if e.large && !(w == WeightsFolded && format == FormatCSR || bank == 8192) {
							continue
						}
						for tol, iterations := range e.iterations {
							if e.large && tol > 1e-10 {
								continue
							}
							r, err := graphs[format].PageRank(t.Context(), sys, Options{Tol: tol, Weights: w, Precision: p, Bank: bank})
							require.NoError(t, err)
							what := fmt.Sprintf("%s %s bank %d %s %g: %v, %d", p, format, bank, w, tol, r.BySegments, iterations)
							t.Log(what)
							require.LessOrEqual(t, r.Iterations, iterations+1, what)
							require.True(t, r.Converged)
							require.InDelta(t, 1, distance(r.Ranks, make([]float64, len(r.Ranks))), 1e-12)
							if tol == 1e-10 {
								require.Less(t, distance(r.Ranks, exact[tol].Ranks), 1e-9, what)
							}
							requireSameBest(t, exact[tol].Ranks, r.Ranks)
						}
					}
				}
			}
		}
	})
}

// In the paper, 16 bits need up to 24 more iterations on its ten graphs (Table 2).
func TestReading16BitsFirstEndsAtTheSameRanksAfterMoreIterations(t *testing.T) {
	t.Parallel()
	sys := open(t, "cpu:1")
	eachExpected(t, func(t *testing.T, e expected) {
		g, err := New(t.Context(), e.graph, FormatAuto)
		require.NoError(t, err)
		exact, err := g.PageRank(t.Context(), sys, Options{})
		require.NoError(t, err)
		for _, w := range []Weights{WeightsFolded, WeightsStored} {
			r, err := g.PageRank(t.Context(), sys, Options{Precision: CPMS4, LeastBits: 16, Weights: w})
			require.NoError(t, err)
			t.Logf("%s weights: %v, fp64 %d: %+d", w, r.BySegments, exact.Iterations, r.Iterations-exact.Iterations)
			require.True(t, r.Converged)
			require.Equal(t, 1, r.Steps[0].Segments)
			require.Positive(t, r.BySegments[2], "32 bits follow")
			require.LessOrEqual(t, r.Iterations-exact.Iterations, 24)
			require.Less(t, distance(r.Ranks, exact.Ranks), 1e-9)
		}
	})
}

// All nodes link to node 0: the ranks are final after one iteration, and later iterations change nothing for any number
// of bits.
func TestRanksThatStopChangingInFewBitsHaveNotConverged(t *testing.T) {
	a, err := sparse.NewCSR(7, 7, []int64{0, 1, 2, 3, 4, 5, 6, 7}, make([]int32, 7), make([]float64, 7))
	require.NoError(t, err)
	for _, devices := range []string{"cpu:1", "sim:2"} {
		sys := open(t, devices)
		for _, w := range []Weights{WeightsFolded, WeightsStored} {
			exact, err := PageRank(t.Context(), sys, a, Options{Weights: w})
			require.NoError(t, err)
			for _, p := range []Precision{CPMS2, CPMS4} {
				r, err := PageRank(t.Context(), sys, a, Options{Weights: w, Precision: p})
				require.NoError(t, err)
				require.True(t, r.Converged)
				require.Less(t, distance(exact.Ranks, r.Ranks), 1e-10, "%s, %s weights on %s: %v", p, w, devices, r.BySegments)
				r, err = PageRank(t.Context(), sys, a, Options{Weights: w, Precision: p, MaxIter: 2})
				require.NoError(t, err)
				require.False(t, r.Converged, "%s, %s weights on %s", p, w, devices)
				r, err = PageRank(t.Context(), sys, a, Options{Weights: w, Precision: p, Tol: 1e-5})
				require.NoError(t, err)
				require.True(t, r.Converged)
				require.Equal(t, r.Iterations, r.BySegments[map[Precision]int{CPMS2: 1, CPMS4: 2}[p]], "32 bits are enough")
			}
		}
	}
}

// requireSameBest compares the five best nodes. Nodes whose ranks differ by less than the two results may be in any order.
func requireSameBest(t *testing.T, want, got []float64) {
	t.Helper()
	first, apart := best(want, 5), distance(want, got)
	for i, n := range best(got, 5) {
		require.InDelta(t, want[first[i]], want[n], 2*apart, "place %d", i+1)
	}
}

func TestSortingLeavesLittlePaddingAndKeepsNeighboursNear(t *testing.T) {
	a, _, err := gen.Generate("planar:kind=delaunay,n=60")
	require.NoError(t, err)
	plain, err := New(context.Background(), a, FormatELL)
	require.NoError(t, err)
	sorted, err := New(context.Background(), a, FormatPELLR)
	require.NoError(t, err)
	links := float64(len(plain.in))
	require.Greater(t, float64(cpu.SlicePadding(plain.ptr)), sortedPadding*links)
	require.LessOrEqual(t, float64(cpu.SlicePadding(sorted.ptr)), sortedPadding*links)
	for j, old := range sorted.number {
		require.Equal(t, j/sortWindows[0], int(old)/sortWindows[0], "the smallest window is enough")
	}
}

func TestAGraphCanBeRankedSeveralTimes(t *testing.T) {
	sys := open(t, "cpu:2")
	m, err := matio.Read(context.Background(), corpus.Testdata("gre_343.mtx.gz"))
	require.NoError(t, err)
	defer m.Close()
	g, err := New(context.Background(), m.CSR, FormatAuto)
	require.NoError(t, err)
	want, err := PageRank(context.Background(), sys, m.CSR, Options{Format: g.Format})
	require.NoError(t, err)
	for range 2 {
		got, err := g.PageRank(context.Background(), sys, Options{})
		require.NoError(t, err)
		require.Equal(t, want.Ranks, got.Ranks)
		require.Len(t, got.Steps, got.Iterations)
		require.Equal(t, got.Residual, got.Steps[got.Iterations-1].Residual)
	}
	_, err = g.PageRank(context.Background(), sys, Options{Format: FormatPELLR})
	require.True(t, sparse.IsInput(err))
	_, err = g.PageRank(context.Background(), nil, Options{})
	require.True(t, sparse.IsInput(err))
	_, err = New(context.Background(), m.CSR, "hyb")
	require.True(t, sparse.IsInput(err))
	for _, empty := range []*Graph{nil, {}} {
		_, err = empty.PageRank(context.Background(), sys, Options{})
		require.True(t, sparse.IsInput(err))
	}
}

func TestPageRankOverFindsTheRanksOfPageRank(t *testing.T) {
	// 0 and 3 have no links; 1 has three.
	a, err := sparse.NewCSR(5, 5, []int64{0, 0, 3, 5, 5, 6}, []int32{0, 2, 3, 1, 4, 1}, []float64{1, 1, 1, 1, 1, 1})
	require.NoError(t, err)
	sys := open(t, "cpu:1")
	plan := planOf(t, sys, sparse.ToCSC[float64](a).Transpose(), msrep.PlanOptions{})
	for _, opt := range []Options{{}, {Tol: 1e-3, Damping: 0.5}} {
		want, err := PageRank(t.Context(), sys, a, opt)
		require.NoError(t, err)
		got, err := PageRankOver(t.Context(), plan, []float64{0, 3, 2, 0, 1}, opt)
		require.NoError(t, err)
		require.True(t, got.Converged)
		require.Equal(t, []int{want.Iterations, 2}, []int{got.Iterations, got.Dangling})
		require.InDeltaSlice(t, want.Ranks, got.Ranks, 1e-14)
	}
}

func TestTheFormatOfAGraphFollowsFromItsPadding(t *testing.T) {
	even, _, err := gen.Generate("stencil:n=16,points=5")
	require.NoError(t, err)
	star, _, err := gen.Generate("arrow:n=1000")
	require.NoError(t, err)
	for a, want := range map[*sparse.CSR[float64]]Format{even: FormatELL, star: FormatCSR} {
		g, err := New(t.Context(), a, FormatAuto)
		require.NoError(t, err)
		require.Equal(t, want, g.Format)
	}
}

func TestAGraphWithoutNodesOrLinksHasRanks(t *testing.T) {
	for _, devices := range []string{"cpu:1", "sim:2"} {
		sys := open(t, devices)
		r, err := PageRank(context.Background(), sys, &sparse.CSR[float64]{RowPtr: []int64{0}}, Options{})
		require.NoError(t, err)
		require.True(t, r.Converged)
		require.Empty(t, r.Ranks)
		for _, p := range []Precision{FP64, CPMS2} {
			r, err = PageRank(context.Background(), sys, &sparse.CSR[float64]{Rows: 3, Cols: 3, RowPtr: make([]int64, 4)}, Options{Precision: p})
			require.NoError(t, err)
			require.Equal(t, 3, r.Dangling)
			for _, v := range r.Ranks {
				require.InDelta(t, 1.0/3, v, 1e-15)
			}
		}
	}
}

func TestPageRankRefusesBadGraphsAndOptions(t *testing.T) {
	sys := open(t, "cpu:1")
	square := &sparse.CSR[float64]{Rows: 2, Cols: 2, RowPtr: make([]int64, 3)}
	for _, o := range []Options{
		{Damping: 1}, {Damping: -0.1}, {Damping: math.NaN()}, {Tol: -1}, {Tol: math.Inf(1)}, {MaxIter: -1},
		{Precision: "fp32"}, {Format: "hyb"}, {Weights: "none"}, {Bank: 65},
		{LeastBits: 48, Precision: CPMS4}, {LeastBits: -1}, {LeastBits: 16}, {LeastBits: 16, Precision: CPMS2},
	} {
		_, err := PageRank(context.Background(), sys, square, o)
		require.True(t, sparse.IsInput(err), "%+v: %v", o, err)
	}
	_, err := PageRank(context.Background(), sys, &sparse.CSR[float64]{Rows: 2, Cols: 3, RowPtr: make([]int64, 3)}, Options{})
	require.True(t, sparse.IsInput(err))
	_, err = PageRank(context.Background(), sys, nil, Options{})
	require.True(t, sparse.IsInput(err))
	_, err = PageRank(context.Background(), nil, square, Options{})
	require.True(t, sparse.IsInput(err))
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = PageRank(ended, sys, square, Options{})
	require.ErrorIs(t, err, context.Canceled)
	r, err := PageRank(context.Background(), sys, square, Options{Tol: 1e-300, MaxIter: 3})
	require.NoError(t, err)
	require.LessOrEqual(t, r.Iterations, 3)
}
