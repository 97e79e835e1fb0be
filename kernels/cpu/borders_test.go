package cpu_test

import (
	"math"
	"math/rand"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/kernels/cpu"
)

func TestOneOfTwoWorkersHasAllOfYWhereEntriesLieAnywhere(t *testing.T) {
	const rows, cols = 40000, 30000
	rng := rand.New(rand.NewSource(1))
	for _, c := range []struct {
		name       string
		width, far int
		one        bool
	}{
		{"near the diagonal", 30, math.MaxInt, false},
		{"in a wide band", 1500, math.MaxInt, false}, // half of a stretch of 8 workers
		{"one of a thousand anywhere", 30, 1000, false},
		{"one of four anywhere", 30, 4, true},
		{"anywhere", 0, 1, true},
	} {
		a := bandedCSR(rng, rows, cols, c.width, c.far)
		for _, n := range []int{1, 2, 3, 8} {
			parts := splitOf(t, a, n)
			got := cpu.OwnStretches(parts, a)
			require.Len(t, got, n+1)
			require.Equal(t, cols, got[n])
			switch {
			case c.one && n == 2:
				require.Equal(t, []int{0, cols, cols}, got, c.name)
			case c.one && n > 2:
				require.Less(t, got[n-1], cols, "%s: %v", c.name, got)
			default:
				for i := range n {
					require.InDelta(t, cols*i/n, got[i], cols/50, "%s: %v", c.name, got)
				}
			}
		}
	}
}
