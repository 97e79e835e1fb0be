package form

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/sparse"
)

func TestStreamedStoresAreTheSameAtEveryAlignment(t *testing.T) {
	streamTest[float64](t)
	streamTest[float32](t)
}

func streamTest[V sparse.Value](t *testing.T) {
	for _, l := range simd.Levels() {
		for from := range 20 {
			for n := range 70 {
				v, y := make([]V, n), make([]V, from+n+20)
				for i := range v {
					v[i] = V(i + 1)
				}
				StoreRows(l, 3, 0, v, y[from:from+n], true)
				Fence(l)
				for i, e := range y {
					want := V(0)
					if i >= from && i < from+n {
						want = V(3 * (i - from + 1))
					}
					require.Equal(t, want, e, "%s, from %d, %d elements, element %d", l, from, n, i)
				}
			}
		}
	}
}

func TestStorePermutedRowsIsStoreRowsOfPermutedSums(t *testing.T) {
	storePermutedRowsTest[float64](t)
	storePermutedRowsTest[float32](t)
}

func storePermutedRowsTest[V sparse.Value](t *testing.T) {
	sums := make([]V, 1<<16)
	for i := range sums {
		sums[i] = V(i) / 3
	}
	sums[1<<16-1-937] = V(math.NaN())
	for _, l := range simd.Levels() {
		for n := range 70 {
			at, permuted := make([]uint16, n), make([]V, n)
			for i := range at {
				at[i] = uint16(1<<16 - 1 - 937*i)
			}
			Permute(l, at, sums, permuted)
			for from := range 9 {
				for _, beta := range []V{0, 0.7} {
					for _, stream := range []bool{false, true} {
						want, got := make([]V, from+n+9), make([]V, from+n+9)
						for i := range want {
							want[i], got[i] = V(i)/7, V(i)/7
						}
						StoreRows(l, 3, beta, permuted, want[from:from+n], stream)
						StorePermutedRows(l, 3, beta, at, sums, got[from:from+n], stream)
						Fence(l)
						for i := range want {
							require.Equal(t, math.Float64bits(float64(want[i])), math.Float64bits(float64(got[i])), "%s, from %d, %d elements, beta %g, element %d", l, from, n, beta, i)
						}
					}
				}
			}
		}
	}
}

func TestPrefetchAcceptsAnyRange(t *testing.T) {
	x := make([]float64, 100)
	for _, l := range simd.Levels() {
		Prefetch(l, x, 0, 0)
		Prefetch(l, x, 99, 100)
		Prefetch(l, x, 0, 100)
		Prefetch(l, x, 5, 3)
	}
}

func TestBeyondComparesWithTheLastCache(t *testing.T) {
	require.False(t, ExceedsLastCache(0))
	require.True(t, ExceedsLastCache(1<<50))
}

func TestPermuteCopiesElementsFromTheirPositions(t *testing.T) {
	permuteTest[float64](t)
	permuteTest[float32](t)
}

func permuteTest[V sparse.Value](t *testing.T) {
	from := make([]V, 1<<16)
	for i := range from {
		from[i] = V(i)
	}
	for _, l := range simd.Levels() {
		for n := range 70 {
			at, to := make([]uint16, n), make([]V, n+1)
			for i := range at {
				at[i] = uint16(1<<16 - 1 - 937*i)
			}
			Permute(l, at, from, to)
			for i, k := range at {
				require.Equal(t, V(k), to[i], "%s, %d elements, element %d", l, n, i)
			}
			require.Zero(t, to[n])
		}
	}
}
