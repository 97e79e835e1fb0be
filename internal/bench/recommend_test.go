package bench

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/corpus"
	"github.com/msrep-go/msrep/internal/stats"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/matio"
)

// TestTheRecommendationForGPUsIsNearTheBestByCounts interprets the kernels of csr and of all formats of
// sparse/ellpack on all real matrices. Counts replace the times of a GPU. MSREP_MOST_ENTRIES is the largest number of
// entries of a matrix (default 30,000).
func TestTheRecommendationForGPUsIsNearTheBestByCounts(t *testing.T) {
	index := corpus.Table(t, corpus.Shared(t, "expected", "products.tsv"))
	most := int64(corpus.EnvInt(t, "MSREP_MOST_ENTRIES", 30_000))
	if testing.Short() {
		most = min(most, 3000)
	}
	var ratios []float64
	chosen := map[sparse.Format]int{}
	for _, row := range index {
		m, err := matio.Read(t.Context(), corpus.Shared(t, "matrices", row["name"]+".mtx.gz"))
		if sparse.IsInput(err) {
			continue // complex values
		}
		require.NoError(t, err)
		if n := m.NNZ(); n > 0 && n <= most {
			f, ratio, err := RegretOnGPU(m.CSR)
			require.NoError(t, err)
			ratios = append(ratios, ratio)
			chosen[f]++
			if ratio > 1.3 {
				t.Logf("%s: %s costs %.2f times as much as the best", row["name"], f, ratio)
			}
		}
		require.NoError(t, m.Close())
	}
	within := 0
	for _, q := range ratios {
		if q <= 1.1 {
			within++
		}
	}
	t.Logf("%d matrices, recommended %v; within 10 %% of the best on %.1f %%, at most %.2f times as much, mean %.3f",
		len(ratios), chosen, 100*float64(within)/float64(len(ratios)), slices.Max(ratios), geometricMean(ratios))
	require.GreaterOrEqual(t, float64(within), 0.9*float64(len(ratios)))
	require.Greater(t, len(chosen), 2, "the recommendation depends on the matrix")
}

func geometricMean(all []float64) float64 {
	sum := 0.0
	for _, v := range all {
		sum += math.Log(v)
	}
	return math.Exp(sum / float64(len(all)))
}

// TestTheRecommendationForGPUsIsNearTheBestOnAnH100 compares the recommendation with the times of an H100 on two
// stencils (bench/results). The matrices here are smaller ones of the same kind.
func TestTheRecommendationForGPUsIsNearTheBestOnAnH100(t *testing.T) {
	for _, c := range []struct {
		spec string
		us   map[sparse.Format]float64
	}{
		{"gen:stencil:dims=3,points=27,n=40", map[sparse.Format]float64{"csr": 413.5, "ell": 394.6, "ellr": 396.9, "pellr": 403.4, "pellr-warp": 398.7, "sell": 397.7, "jad": 407.1, "biell": 455.3}},
		{"gen:stencil:dims=3,points=7,n=60", map[sparse.Format]float64{"csr": 58.3, "ell": 53.3, "ellr": 55.7, "pellr": 59.9, "pellr-warp": 58.2, "sell": 59.4, "jad": 59.1, "biell": 67.3}},
		// Times in microseconds from the first run; csr is from the second one.
		{"gen:powerlaw:rows=100k,nnz=1M", map[sparse.Format]float64{"csr": 9399, "pellr": 411104.7, "pellr-warp": 439435.4, "jad": 254360.8, "biell": 23794.7}},
	} {
		m, err := matio.Read(context.Background(), c.spec)
		require.NoError(t, err)
		s := stats.Of(m.CSR)
		f := s.RecommendGPU().Format
		best := math.Inf(1)
		for _, us := range c.us {
			best = min(best, us)
		}
		require.Contains(t, c.us, f, c.spec)
		require.LessOrEqual(t, c.us[f], 1.1*best, "%s: %s", c.spec, f)
		require.NoError(t, m.Close())
	}
}
