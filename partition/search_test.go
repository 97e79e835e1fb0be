package partition

import (
	"sort"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestLowerBoundFindsWhatABinarySearchFinds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		// Long stretches of equal rows, with jumps of any size between them.
		ptr := []int64{rapid.SampledFrom([]int64{0, 3, 1 << 40}).Draw(t, "first")}
		for range rapid.IntRange(1, 6).Draw(t, "stretches") {
			step := rapid.SampledFrom([]int64{0, 1, 7, 1000}).Draw(t, "row length")
			for range rapid.IntRange(0, 300).Draw(t, "rows") {
				ptr = append(ptr, ptr[len(ptr)-1]+step)
			}
			ptr = append(ptr, ptr[len(ptr)-1]+rapid.SampledFrom([]int64{0, 1, 100_000, 1 << 55}).Draw(t, "long row"))
		}
		m := len(ptr) - 1
		s := rapid.Int64Range(0, ptr[m]).Draw(t, "s")
		if rapid.Bool().Draw(t, "at a pointer") {
			s = ptr[rapid.IntRange(0, m).Draw(t, "which")]
		}
		want := min(sort.Search(m, func(i int) bool { return ptr[i] >= s }), m)
		require.Equal(t, want, lowerBound(ptr, s), "s = %d in %v", s, ptr)
	})
}
