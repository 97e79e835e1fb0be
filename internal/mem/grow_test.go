package mem

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAnArrayGrowsWithWhatWasRead(t *testing.T) {
	const limit = 1_000_003
	a := []int32{}
	for n := int64(0); n < limit; {
		next := min(n+17, limit)
		grown, err := Grow(a, next, limit)
		require.NoError(t, err)
		require.Len(t, grown, int(next))
		require.LessOrEqual(t, int64(cap(grown)), min(growth*next, limit))
		if next > 17 && grown[n-1] != int32(n-1) {
			require.Equal(t, int32(n-1), grown[n-1], "what was read stays")
		}
		for k := n; k < next; k++ {
			grown[k] = int32(k)
		}
		a, n = grown, next
	}
	require.Equal(t, limit, cap(a))
}

func TestAnArrayDoesNotOutgrowMemory(t *testing.T) {
	const n, limit = 1 << 20, 1 << 40
	for have, want := range map[int64]string{
		8*growth*n - 1: "an array of 33554432 bytes does not fit into memory, 33554431 are available",
		8 * growth * n: "",
	} {
		end := SetAvailable(have)
		a, err := Grow(make([]float64, 5), n, limit)
		end()
		if want == "" {
			require.NoError(t, err)
			require.Len(t, a, n)
			continue
		}
		require.EqualError(t, err, want)
	}
}
