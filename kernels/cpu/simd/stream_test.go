package simd

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/sparse"
)

func TestStreamedStoresAreTheSameAtEveryAlignment(t *testing.T) {
	streamTest[float64](t)
	streamTest[float32](t)
}

func streamTest[V sparse.Value](t *testing.T) {
	for l := Generic; l <= Best(); l++ {
		for from := range 20 {
			for n := range 70 {
				v, y := make([]V, n), make([]V, from+n+20)
				for i := range v {
					v[i] = V(i + 1)
				}
				Finish(l, 3, 0, v, y[from:from+n], true)
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

func TestLoadsAheadAcceptAnyRange(t *testing.T) {
	x := make([]float64, 100)
	for l := Generic; l <= Best(); l++ {
		LoadAhead(l, x, 0, 0)
		LoadAhead(l, x, 99, 100)
		LoadAhead(l, x, 0, 100)
		LoadAhead(l, x, 5, 3)
	}
}

func TestBeyondComparesWithTheLastCache(t *testing.T) {
	require.False(t, Beyond(0))
	require.True(t, Beyond(1<<50))
}
