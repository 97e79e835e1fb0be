package dense_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/dense"
	"github.com/msrep-go/msrep/sparse"
)

// A caller that eliminates a front by blocks of columns gets the bits of LU.
func TestLUByBlocksOfColumnsHasTheBitsOfLU(t *testing.T) {
	eachLevel(t, testBlocks[float64], testBlocks[float32])
}

func testBlocks[V sparse.Value](t *testing.T) {
	random := rand.New(rand.NewPCG(17, 18))
	for round := range rounds() / 4 {
		k := dimension(random)
		m := k + dimension(random)
		tol, tiny := []V{0.01, 0.1, 1}[round%3], []V{1e-30, 0.5}[round%2]
		want := newRandom[V](random, m, k, everywhere)
		got, perm, swaps := want.clone(), make([]int32, k), make([]int32, k)
		replaced, _ := dense.LUPanel(m, k, want.val, want.ld, perm, tol, tiny)
		ld := got.ld
		for c := 0; c < k; c += 24 {
			n := min(24, k-c)
			end, block, now := c+n, got.from(c, c), swaps[c:min(c+24, k)]
			replaced -= dense.LUColumns(k-c, n, block, ld, now, tol, tiny)
			dense.UpperRightSolve(m-k, n, block, ld, got.from(k, c), ld)
			for j := range c {
				dense.Exchange(now, got.from(c, j)[:k-c])
			}
			if end < k {
				right := got.from(c, end)
				dense.UpperPart(n, k-end, block, ld, now, right, ld)
				dense.Gemm(m-end, k-end, n, got.from(end, c), ld, right, ld, got.from(end, end), ld)
			}
			for i := range now {
				now[i] += int32(c)
			}
		}
		require.Zero(t, replaced)
		require.Equal(t, perm, swaps, "%d rows, %d pivots", m, k)
		want.same(t, got, "%d rows, %d pivots", m, k)
	}
}
