package order

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/sparse"
)

// reachable returns which columns each column reaches in the graph of BlockTriangular.
func reachable(a *sparse.CSR[float64], rows []int32) [][]bool {
	n := a.Rows
	r := make([][]bool, n)
	for j := range r {
		r[j] = make([]bool, n)
		r[j][j] = true
		for _, k := range a.ColIdx[a.RowPtr[rows[j]]:a.RowPtr[rows[j]+1]] {
			r[j][k] = true
		}
	}
	for k := range n {
		for i := range n {
			for j := range n {
				r[i][j] = r[i][j] || r[i][k] && r[k][j]
			}
		}
	}
	return r
}

func TestBlocksAreTheSetsOfColumnsThatReachEachOther(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := drawMatrix(t, 7, true)
		rows := rapid.Permutation(sequence(a.Rows)).Draw(t, "rows")
		b, err := BlockTriangular(a, rows)
		require.NoError(t, err)
		requireBlocks(t, a, b)
		block := make([]int, a.Rows)
		for c := range len(b.Start) - 1 {
			for k := b.Start[c]; k < b.Start[c+1]; k++ {
				block[b.Cols[k]] = c
				require.Equal(t, rows[b.Cols[k]], b.Rows[k], "the matching stays on the diagonal")
			}
		}
		r := reachable(a, rows)
		for i := range a.Rows {
			for j := range a.Rows {
				require.Equal(t, r[i][j] && r[j][i], block[i] == block[j])
			}
		}
	})
}

// requireBlocks requires permutations without entries below the diagonal blocks.
func requireBlocks(t require.TestingT, a *sparse.CSR[float64], b *Blocks) {
	requirePermutation(t, b.Rows, a.Rows)
	requirePermutation(t, b.Cols, a.Cols)
	require.Equal(t, 0, b.Start[0])
	require.Equal(t, a.Rows, b.Start[len(b.Start)-1])
	p, err := sparse.Permute(a, b.Rows, b.Cols)
	require.NoError(t, err)
	for c := range len(b.Start) - 1 {
		if b.Start[c] >= b.Start[c+1] {
			require.Fail(t, "an empty block", "block %d", c)
		}
		for i := b.Start[c]; i < b.Start[c+1]; i++ {
			if p.RowPtr[i] < p.RowPtr[i+1] && int(p.ColIdx[p.RowPtr[i]]) < b.Start[c] {
				require.Fail(t, "an entry below the diagonal blocks", "row %d", i)
			}
		}
	}
}

func TestALongChainOfBlocksNeedsNoRecursion(t *testing.T) {
	// Row i has the columns i and i+1: a path through all columns, whose last column leads
	// to none, or back to the first.
	const n = 1_000_000
	a := &sparse.CSR[float64]{Rows: n, Cols: n, RowPtr: make([]int64, n+1)}
	for i := range int32(n) {
		a.ColIdx = append(a.ColIdx, i, (i+1)%n)
		a.RowPtr[i+1] = int64(len(a.ColIdx))
	}
	a.Val = make([]float64, len(a.ColIdx))
	b, err := BlockTriangular(a, nil)
	require.NoError(t, err)
	require.Equal(t, []int{0, n}, b.Start)

	a.ColIdx[2*n-1] = n - 1
	b, err = BlockTriangular(a, nil)
	require.NoError(t, err)
	require.Len(t, b.Start, n+1)
	require.Equal(t, sequence(n), b.Cols)
}
