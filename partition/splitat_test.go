package partition

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/sparse"
)

func TestSplitAtCutsWholeMajors(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ptr := []int64{0}
		for range rapid.IntRange(0, 12).Draw(t, "majors") {
			ptr = append(ptr, ptr[len(ptr)-1]+int64(rapid.IntRange(0, 3).Draw(t, "length")))
		}
		m := len(ptr) - 1
		cuts := []int{0}
		for range rapid.IntRange(0, 4).Draw(t, "cuts") {
			cuts = append(cuts, rapid.IntRange(cuts[len(cuts)-1], m).Draw(t, "cut"))
		}
		cuts = append(cuts, m)
		parts, err := SplitAt(ptr, cuts)
		require.NoError(t, err)
		require.NoError(t, Verify(parts, ptr))
		for k, p := range parts {
			require.Equal(t, cuts[k:k+2], []int{p.OwnFirst, p.OwnEnd})
			require.Equal(t, ptr[cuts[k+1]]-ptr[cuts[k]], p.NNZ())
			require.False(t, p.StartFlag)
		}
	})
}

func TestSplitAtRefusesBadCuts(t *testing.T) {
	ptr := []int64{0, 1, 2}
	for _, cuts := range [][]int{{0, 1}, {1, 2}, {0, 2, 1, 2}, {0, 3}, {-1, 2}} {
		_, err := SplitAt(ptr, cuts)
		require.EqualError(t, err, "cuts: must ascend from 0 to 2, the number of rows or columns")
		require.True(t, sparse.IsInput(err))
	}
	for _, cuts := range [][]int{nil, {0}} {
		_, err := SplitAt(ptr, cuts)
		require.ErrorContains(t, err, "parts")
	}
	_, err := SplitAt([]int64{1, 2}, []int{0, 1})
	require.True(t, sparse.IsInput(err))
}
