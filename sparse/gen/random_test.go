package gen

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/sparse"
)

func TestRandomHasExactlyTheEntriesAskedForAtAnyDensity(t *testing.T) {
	for _, nnz := range []string{"0", "1", "70", "100", "4k", "5k", "8900", "9999", "10k"} {
		m, src := generateAll(t, "random:rows=200,cols=50,nnz="+nnz)
		want, _ := parseCount(nnz)
		require.Equal(t, want, m.NNZ())
		require.Equal(t, sparse.Source{Field: sparse.Real, Symmetry: sparse.General, Stored: want}, src)
	}
	generateAll(t, "random:rows=0,nnz=0")
	generateAll(t, "random:rows=5,cols=0,nnz=0")
}

func TestRandomIsSpreadLikeIndependentDraws(t *testing.T) {
	m, _ := generateAll(t, "random:rows=20k,cols=10k,nnz=400k")
	// Row lengths: mean 20, variance 20 (1 - 20/10000).
	var sq float64
	for _, n := range lengths(m) {
		sq += (float64(n) - 20) * (float64(n) - 20)
	}
	require.InEpsilon(t, 20.0, sq/20_000, 0.05)
	// Columns: chi square over 100 bins, 99 degrees of freedom, sd 14.
	bins := make([]float64, 100)
	for _, j := range m.ColIdx {
		bins[j/100]++
	}
	var chi float64
	for _, b := range bins {
		chi += (b - 4000) * (b - 4000) / 4000
	}
	require.InDelta(t, 99, chi, 70)
	var mean float64
	for _, v := range m.Val {
		mean += v / float64(len(m.Val))
	}
	require.InDelta(t, 0, mean, 0.01)
}

func TestFullRowsAreSpreadEvenlyToo(t *testing.T) {
	m, _ := generateAll(t, "random:rows=20k,cols=40,nnz=400k")
	bins := make([]float64, 40)
	for _, j := range m.ColIdx {
		bins[j]++
	}
	for _, b := range bins {
		require.InEpsilon(t, 10_000, b, 0.05)
	}
}

func TestRmatIsSkewedTowardsTheFirstVertices(t *testing.T) {
	m, src := generateAll(t, "rmat:scale=12,edges=16")
	require.Equal(t, 1<<12, m.Rows)
	require.Equal(t, sparse.General, src.Symmetry)
	require.LessOrEqual(t, m.NNZ(), int64(16<<12))
	require.Greater(t, m.NNZ(), int64(10<<12))
	upper := float64(m.RowPtr[m.Rows/2]) / float64(m.NNZ())
	require.InDelta(t, 0.73, upper, 0.05, "a+b is 0.76, less what repeats there")
	require.Greater(t, slices.Max(lengths(m)), int64(200))

	m, _ = generateAll(t, "rmat:scale=5,a=1,b=0,c=0")
	require.Equal(t, []int32{0}, m.ColIdx, "all edges are the same")
	m, _ = generateAll(t, "rmat:scale=5,a=0,b=0,c=0")
	require.Equal(t, []int32{31}, m.ColIdx)
	require.EqualValues(t, 0, m.RowPtr[31])
	m, _ = generateAll(t, "rmat:scale=0")
	require.EqualValues(t, 1, m.NNZ())
}

func TestPowerlawHasItsExponentAndItsEntries(t *testing.T) {
	for _, r := range []float64{2.1, 3} {
		m, _ := generateAll(t, "powerlaw:rows=200k,nnz=2M,r="+map[float64]string{2.1: "2.1", 3: "3"}[r])
		require.EqualValues(t, 2_000_000, m.NNZ())
		// The maximum likelihood exponent of the tail (Clauset, Shalizi, Newman 2009).
		const from = 40
		var n, logs float64
		for _, k := range lengths(m) {
			if k >= from {
				n++
				logs += math.Log(float64(k) / (from - 0.5))
			}
		}
		require.Greater(t, n, 300.0)
		require.InDelta(t, r, 1+n/logs, 0.15)
	}
	m, _ := generateAll(t, "powerlaw:rows=1000,nnz=1000")
	require.EqualValues(t, 1, slices.Max(lengths(m)))
	m, _ = generateAll(t, "powerlaw:rows=1000,nnz=10")
	require.EqualValues(t, 10, m.NNZ())
	m, _ = generateAll(t, "powerlaw:rows=50,cols=30,nnz=1500,r=1.1")
	require.EqualValues(t, 1500, m.NNZ())
	m, _ = generateAll(t, "powerlaw:rows=50,cols=30,nnz=1499,r=1.1")
	require.EqualValues(t, 1499, m.NNZ())
}

func TestRowsOfEqualWeightShareWhatIsLeft(t *testing.T) {
	n := make([]int64, 4)
	fitLengths(context.Background(), n, []float64{1, 1, 1, 1}, 10, 20)
	require.Equal(t, []int64{3, 3, 2, 2}, n)
	fitLengths(context.Background(), n, []float64{2, 2, 1, 1}, 3, 20)
	require.Equal(t, []int64{2, 1, 0, 0}, n)
	fitLengths(context.Background(), n, []float64{1e100, 2, 1, 1}, 14, 5)
	require.Equal(t, []int64{5, 5, 2, 2}, n)
}
