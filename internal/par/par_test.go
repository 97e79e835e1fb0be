package par

import (
	"fmt"
	"math"
	"math/big"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestRangeVisitsEveryItemOnce(t *testing.T) {
	for _, n := range []int64{0, 1, 2, 7, 1000} {
		seen := make([]atomic.Int32, n)
		Range(n, 1, func(lo, hi int64) {
			for i := lo; i < hi; i++ {
				seen[i].Add(1)
			}
		})
		for i := range seen {
			require.Equal(t, int32(1), seen[i].Load())
		}
	}
}

func TestAPanicReachesTheCaller(t *testing.T) {
	for _, n := range []int{1, 5} {
		var done atomic.Int32
		func() {
			defer func() { require.Contains(t, fmt.Sprint(recover()), "boom") }()
			Do(n, func(i int) {
				if i == n-1 {
					panic("boom")
				}
				done.Add(1)
			})
		}()
		require.Equal(t, int32(n-1), done.Load(), "the others end before the panic is raised")
	}
}

func TestCutIsTheExactQuotientForAnyLength(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Range(0, math.MaxInt64).Draw(t, "n")
		parts := rapid.IntRange(1, math.MaxInt32).Draw(t, "parts")
		i := rapid.IntRange(0, parts).Draw(t, "i")
		want := new(big.Int).Mul(big.NewInt(n), big.NewInt(int64(i)))
		want.Quo(want, big.NewInt(int64(parts)))
		require.Equal(t, want.Int64(), Cut(n, parts, i))
	})
}

func TestWorkersNeedsWorkForEach(t *testing.T) {
	require.Equal(t, 1, Workers(0, 10))
	require.Equal(t, 1, Workers(19, 10))
	require.LessOrEqual(t, Workers(math.MaxInt64, 1), 1<<20)
}
