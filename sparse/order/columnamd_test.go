package order

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/sparse"
)

func TestColumnAMDReturnsPermutations(t *testing.T) {
	for name, spec := range shapes {
		a := generate(t, spec)
		q, err := ColumnAMD(a)
		require.NoError(t, err, name)
		requirePermutation(t, q, a.Cols)
	}
	rapid.Check(t, func(t *rapid.T) {
		a := drawMatrix(t, 60, false)
		q, err := ColumnAMD(a)
		require.NoError(t, err)
		requirePermutation(t, q, a.Cols)
		again, err := ColumnAMD(a)
		require.NoError(t, err)
		require.Equal(t, q, again)
	})
}

// gram returns the pattern of A'A.
func gram(a *sparse.CSR[float64]) *sparse.CSR[float64] {
	coo := &sparse.COO[float64]{Rows: a.Cols, Cols: a.Cols}
	for i := range a.Rows {
		row := a.ColIdx[a.RowPtr[i]:a.RowPtr[i+1]]
		for _, j := range row {
			coo.RowIdx = append(coo.RowIdx, row...)
			for range row {
				coo.ColIdx, coo.Val = append(coo.ColIdx, j), append(coo.Val, 1)
			}
		}
	}
	return sparse.ToCSR(coo)
}

func TestColumnAMDMakesAsLittleFillInTheProductAsAMDDoes(t *testing.T) {
	var ratios []float64
	for _, spec := range []string{"stencil:dims=2,n=30", "stencil:dims=3,n=9", "random:rows=300,nnz=600", "banded:n=300,band=3,density=0.6"} {
		a := generate(t, spec)
		product := gram(a)
		q, err := ColumnAMD(a)
		require.NoError(t, err)
		p, err := AMD(product)
		require.NoError(t, err)
		implicit, _ := fill(t, product, q)
		explicit, _ := fill(t, product, p)
		ratios = append(ratios, float64(implicit)/float64(explicit))
	}
	require.Less(t, geometricMean(ratios), 1.1, "%v", ratios)
}

func TestColumnAMDOrdersDenseColumnsThenEmptyOnesLast(t *testing.T) {
	// Column 1 is dense, column 3 is empty; row 0 is dense and left out, which leaves
	// nothing in column 0.
	const n = 400
	coo := &sparse.COO[float64]{Rows: n, Cols: n}
	put := func(i, j int) {
		coo.RowIdx, coo.ColIdx, coo.Val = append(coo.RowIdx, int32(i)), append(coo.ColIdx, int32(j)), append(coo.Val, 1)
	}
	for i := range n {
		put(i, 1)
		if i != 3 {
			put(i, i)
			put(0, i)
		}
	}
	q, err := ColumnAMD(sparse.ToCSR(coo))
	require.NoError(t, err)
	requirePermutation(t, q, n)
	require.Equal(t, []int32{1, 0, 3}, q[n-3:])
}
