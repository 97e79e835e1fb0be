package sparse

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRowsOfAnyLengthAreSortedAndKeepEqualColumnsInOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var s rowSorter[float64]
	type entry struct {
		col int32
		val float64
	}
	lengths := []int{1000, 70_000}
	for n := range 300 {
		lengths = append(lengths, n)
	}
	for _, n := range lengths {
		for _, cols := range []int32{1, 3, 200, 1 << 16, 1<<31 - 1} {
			want := make([]entry, n)
			for k := range want {
				want[k] = entry{r.Int32N(cols), float64(k)}
			}
			if n > 0 {
				want[r.IntN(n)].col = cols - 1
			}
			col, val := make([]int32, n), make([]float64, n)
			for k, e := range want {
				col[k], val[k] = e.col, e.val
			}
			slices.SortStableFunc(want, func(a, b entry) int { return int(a.col) - int(b.col) })
			duplicates := false
			for k := 1; k < n; k++ {
				duplicates = duplicates || want[k].col == want[k-1].col
			}
			require.Equal(t, duplicates, s.sort(col, val), "%d entries below %d", n, cols)
			for k, e := range want {
				if e.col != col[k] || e.val != val[k] {
					t.Fatalf("%d entries below %d: %v at %d, not %v", n, cols, entry{col[k], val[k]}, k, e)
				}
			}
		}
	}
}
