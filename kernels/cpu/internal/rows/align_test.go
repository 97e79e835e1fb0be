package rows

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/partition"
)

func TestAlignedPiecesStillCoverThePart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ptr := []int64{0}
		lengths := rapid.SliceOfN(rapid.SampledFrom([]int64{0, 1, 2, 3, 5, 400}), 1, 400).Draw(t, "lengths")
		for range rapid.SampledFrom([]int{1, 200}).Draw(t, "times") { // borders move in large parts only
			for _, n := range lengths {
				ptr = append(ptr, ptr[len(ptr)-1]+n)
			}
		}
		whole, _, err := partition.Split(ptr, 1, partition.RuleNNZ)
		require.NoError(t, err)
		n := rapid.IntRange(2, 9).Draw(t, "pieces")
		parts, err := partition.Within(ptr, whole[0], n)
		require.NoError(t, err)
		Align(parts, whole[0], ptr)
		require.NoError(t, partition.Verify(parts, ptr))
	})
}

func TestPiecesOfShortRowsBeginAtMultiplesOfSixteenRows(t *testing.T) {
	ptr := make([]int64, 100_001)
	for i := range ptr {
		ptr[i] = 3 * int64(i)
	}
	whole, _, err := partition.Split(ptr, 1, partition.RuleNNZ)
	require.NoError(t, err)
	parts, err := partition.Within(ptr, whole[0], 7)
	require.NoError(t, err)
	Align(parts, whole[0], ptr)
	for _, q := range parts {
		require.Zero(t, q.OwnFirst%alignedRows)
		require.False(t, q.StartFlag)
	}
	require.Less(t, partition.Imbalance(parts), 1.001)
}
