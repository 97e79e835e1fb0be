package sparse

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// Conversions on several goroutines give the entries of each column in the order of their rows. Some rows and columns are
// empty, some long, and entries are duplicates.
func TestConversionsKeepTheOrderOfEntries(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct{ rows, cols, nnz int }{{1, 1, 200_000}, {1, 70_000, 200_000}, {70_000, 1, 200_000}, {300, 50_000, 300_000}, {50_000, 300, 300_000}, {40_000, 40_000, 150_000}, {90_000, 90_000, 100_000}, {5, 7, 0}, {0, 3, 0}, {3, 0, 0}} {
		rows := make([]int, c.nnz)
		for k := range rows {
			rows[k] = rng.IntN(max(c.rows*3/4, 1))
			if k%4 == 0 {
				rows[k] = c.rows / 3
			}
		}
		slices.Sort(rows)
		a := &CSR[float64]{Rows: c.rows, Cols: c.cols, RowPtr: make([]int64, c.rows+1), ColIdx: make([]int32, c.nnz), Val: make([]float64, c.nnz)}
		want := &CSC[float64]{Rows: c.rows, Cols: c.cols, ColPtr: make([]int64, c.cols+1), RowIdx: make([]int32, c.nnz), Val: make([]float64, c.nnz)}
		for k, r := range rows {
			a.RowPtr[r+1]++
			a.ColIdx[k], a.Val[k] = int32(rng.IntN(max(c.cols*4/5, 1))), float64(k)
			want.ColPtr[a.ColIdx[k]+1]++
		}
		for i := range c.rows {
			a.RowPtr[i+1] += a.RowPtr[i]
		}
		for j := range c.cols {
			want.ColPtr[j+1] += want.ColPtr[j]
		}
		next := slices.Clone(want.ColPtr)
		for k, j := range a.ColIdx {
			want.RowIdx[next[j]], want.Val[next[j]] = int32(rows[k]), a.Val[k]
			next[j]++
		}
		for _, procs := range []int{1, 2, 3, 7} {
			old := runtime.GOMAXPROCS(procs)
			got := ToCSC[float64](a)
			runtime.GOMAXPROCS(old)
			require.Equal(t, want.ColPtr, got.ColPtr, "%v on %d", c, procs)
			require.True(t, slices.Equal(want.RowIdx, got.RowIdx) && slices.Equal(want.Val, got.Val), "%v on %d", c, procs)
		}
	}
}
