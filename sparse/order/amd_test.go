package order

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/sparse"
)

// shapes are matrices that an order may treat specially.
var shapes = map[string]string{
	"empty":         "empty:rows=0",
	"one":           "diag:n=1",
	"no entries":    "empty:rows=7",
	"diagonal":      "diag:n=50",
	"dense":         "dense:rows=40",
	"arrow":         "arrow:n=2000",
	"line":          "banded:n=300,band=1,density=1",
	"grid":          "stencil:dims=2,n=30",
	"box":           "stencil:dims=3,n=9",
	"random":        "random:rows=500,nnz=1500",
	"skewed random": "rmat:scale=9,edges=8",
}

func TestAMDReturnsPermutations(t *testing.T) {
	for name, spec := range shapes {
		a := generate(t, spec)
		p, err := AMD(a)
		require.NoError(t, err, name)
		requirePermutation(t, p, a.Rows)
	}
	rapid.Check(t, func(t *rapid.T) {
		a := drawMatrix(t, 60, true)
		p, err := AMD(a)
		require.NoError(t, err)
		requirePermutation(t, p, a.Rows)
		again, err := AMD(a)
		require.NoError(t, err)
		require.Equal(t, p, again)
	})
}

func TestAMDEliminatesTheLeavesOfATreeFirst(t *testing.T) {
	// Without fill, a tree of n nodes has a factor of 2n-1 entries.
	a := generate(t, "banded:n=300,band=1,density=1")
	p, err := AMD(a)
	require.NoError(t, err)
	entries, _ := fill(t, a, p)
	require.EqualValues(t, 2*300-1, entries)
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 80).Draw(t, "n")
		coo := &sparse.COO[float64]{Rows: n, Cols: n}
		for i := 1; i < n; i++ {
			coo.RowIdx = append(coo.RowIdx, int32(i))
			coo.ColIdx = append(coo.ColIdx, int32(rapid.IntRange(0, i-1).Draw(t, "parent")))
			coo.Val = append(coo.Val, 1)
		}
		p, err := AMD(sparse.ToCSR(coo))
		require.NoError(t, err)
		entries, _ := fill(t, sparse.ToCSR(coo), p)
		require.EqualValues(t, 2*n-1, entries)
	})
}

func TestAMDOrdersDenseRowsLast(t *testing.T) {
	a := generate(t, "arrow:n=2000")
	p, err := AMD(a)
	require.NoError(t, err)
	require.EqualValues(t, 0, p[1999])
	entries, _ := fill(t, a, p)
	require.EqualValues(t, 2*2000-1, entries)
}
