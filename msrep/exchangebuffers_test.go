package msrep

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestIndexRangeOfManyIndices(t *testing.T) {
	idx := make([]int32, 1<<18)
	for i := range idx {
		idx[i] = 1000 + int32(i%7)
	}
	for _, at := range [][2]int{{0, len(idx) - 1}, {len(idx) - 1, 0}, {1 << 16, 1<<17 + 1}} {
		with := slices.Clone(idx)
		with[at[0]], with[at[1]] = 3, math.MaxInt32-1
		lo, hi := indexRange(with)
		require.Equal(t, []int{3, math.MaxInt32}, []int{lo, hi})
	}
	lo, hi := indexRange(nil)
	require.Equal(t, lo, hi)
}
