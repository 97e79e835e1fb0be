package partition

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestSplitByWholeMajorsCutsNoMajorAndBalancesAsWellAsThatAllows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ptr, np := pointers().Draw(t, "ptr"), rapid.IntRange(1, 40).Draw(t, "parts")
		parts, rule, err := Split(ptr, np, RuleWhole)
		require.NoError(t, err)
		require.Equal(t, RuleWhole, rule)
		require.NoError(t, Verify(parts, ptr))
		longest, nnz := int64(0), ptr[len(ptr)-1]
		for r := range len(ptr) - 1 {
			longest = max(longest, ptr[r+1]-ptr[r])
		}
		for _, p := range parts {
			require.False(t, p.StartFlag)
			require.LessOrEqual(t, p.NNZ(), nnz/int64(np)+1+longest)
		}
	})
	_, _, err := SplitCOO([]int32{0}, 1, 1, RuleWhole)
	require.EqualError(t, err, "rule: whole needs row or column pointers, which COO lacks: use nnz, merge-path or block")
}

func TestSplitByWholeMajorsCutsAtTheNearestBorder(t *testing.T) {
	for border := int64(1); border < 20; border++ { // the ends are 10 from the middle
		parts, _, err := Split([]int64{0, border, 20}, 2, RuleWhole)
		require.NoError(t, err)
		require.Equal(t, border, parts[0].NNZ())
	}
}
