package triangular

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/sparse"
)

// arrow is
//
//	| 1 . . 2 |
//	| . 3 . 4 |
//	| . . 5 6 |
//	| 7 8 9 1 |
func arrow(t *testing.T) *sparse.CSR[float64] {
	a, err := sparse.NewCSR(4, 4, []int64{0, 2, 4, 6, 10}, []int32{0, 3, 1, 3, 3, 2, 3, 1, 0, 2}, []float64{1, 2, 3, 4, 6, 5, 1, 8, 7, 9})
	require.NoError(t, err)
	return a
}

func TestExtractTakesOneTriangle(t *testing.T) {
	lower, err := Extract(arrow(t), false, false)
	require.NoError(t, err)
	require.Equal(t, &Matrix[float64]{N: 4, Ptr: []int64{0, 0, 0, 0, 3}, Idx: []int32{0, 1, 2}, Val: []float64{7, 8, 9}, Diag: []float64{1, 3, 5, 1}}, lower)
	require.EqualValues(t, 7, lower.Entries())
	require.Equal(t, 2, lower.Levels())
	upper, err := Extract(arrow(t), true, true)
	require.NoError(t, err)
	require.Equal(t, &Matrix[float64]{Upper: true, N: 4, Ptr: []int64{0, 1, 2, 3, 3}, Idx: []int32{3, 3, 3}, Val: []float64{2, 4, 6}}, upper)
	require.EqualValues(t, 3, upper.Entries())
	require.Equal(t, 2, upper.Levels())
}

func TestCutsBalanceEntries(t *testing.T) {
	lower, err := Extract(arrow(t), false, false)
	require.NoError(t, err)
	require.Equal(t, []int{0, 4}, lower.cuts(1))
	require.Equal(t, []int{0, 3, 4}, lower.cuts(2))
	upper, err := Extract(arrow(t), true, false)
	require.NoError(t, err)
	require.Equal(t, []int{0, 2, 4}, upper.cuts(2))
	none := &Matrix[float64]{Ptr: []int64{0}}
	require.Equal(t, []int{0, 0, 0, 0}, none.cuts(3))
	require.Zero(t, none.Levels())
}

func TestBlocksHaveLocalNumbers(t *testing.T) {
	lower, err := Extract(arrow(t), false, false)
	require.NoError(t, err)
	ptr, idx, val := lower.block(2, 4, 1, 3)
	require.Equal(t, []int64{0, 0, 2}, ptr)
	require.Equal(t, []int32{0, 1}, idx)
	require.Equal(t, []float64{8, 9}, val)
	op := lower.diagonalBlock(2, 4, nil)
	require.NoError(t, op.Check())
	require.Equal(t, []int32{0}, op.Idx)
	require.Equal(t, []float64{9}, op.Val)
	require.Equal(t, []float64{5, 1}, op.Diag)
}

func TestCutsRiseAndEndWithTheRows(t *testing.T) {
	lower, err := Extract(arrow(t), false, false)
	require.NoError(t, err)
	for blocks := 1; blocks < 9; blocks++ {
		cuts := lower.cuts(blocks)
		require.Len(t, cuts, blocks+1)
		require.True(t, slices.IsSorted(cuts))
		require.Zero(t, cuts[0])
		require.Equal(t, 4, cuts[blocks])
	}
}
