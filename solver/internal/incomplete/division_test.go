package incomplete

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// A division solves rows in an order that respects what they need, whatever the order of the ranges.
func TestDivisionsSolveRowsAfterThoseThatTheyNeed(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	shared, own := 0, 0
	for n := range 80 {
		f, err := ILUT(t.Context(), randomMatrix(r, n, 0.06, 1).csr(), Threshold{Drop: 0.1, Fill: 1})
		require.NoError(t, err)
		for _, upper := range []bool{false, true} {
			rows := &f.Lower
			if upper {
				rows = &f.Upper
			}
			for _, parts := range []int{1, 2, 3, 7} {
				d := newDivision(rows, upper, rows.cuts(parts, rows.crossings()))
				require.LessOrEqual(t, len(d.starts), parts+1)
				require.True(t, slices.IsSorted(d.starts))
				require.Equal(t, []int{0, n}, []int{d.starts[0], d.starts[len(d.starts)-1]})
				solved := make([]int, n) // 0: not yet; 1 + range; -1: shared
				solve := func(i, by int) {
					require.Zero(t, solved[i], "row %d is solved twice", i)
					solved[i] = by
					col, _ := rows.row(i)
					for _, j := range col {
						ok := solved[j] == by || by == -1 && !upper && solved[j] > 0 || by > 0 && upper && solved[j] == -1
						require.True(t, ok, "row %d by %d needs row %d by %d", i, by, j, solved[j])
					}
				}
				sharedRows := func() {
					for _, i := range d.rows {
						solve(int(i), -1)
					}
					shared += len(d.rows)
				}
				if upper {
					sharedRows()
				}
				for k := len(d.starts) - 2; k >= 0; k-- {
					first, end := d.starts[k], d.starts[k+1]
					for i := range end - first {
						i += first
						if upper {
							i = end - 1 - (i - first)
						}
						if !d.shared[i] {
							solve(i, 1+k)
							own++
						}
					}
				}
				if !upper {
					sharedRows()
				}
				require.NotContains(t, solved, 0)
			}
		}
	}
	require.Greater(t, shared, 1000)
	require.Greater(t, own, 1000)
}

func TestSolvesHaveTheSameBitsHoweverTheyAreDivided(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	m := 260
	d := laplacianRows(m)
	blocks := zeros(0).csr() // four grids that a last row joins
	for k := range 4 {
		for i := range m * m {
			for e := d.RowPtr[i]; e < d.RowPtr[i+1]; e++ {
				blocks.ColIdx, blocks.Val = append(blocks.ColIdx, d.ColIdx[e]+int32(k*m*m)), append(blocks.Val, d.Val[e])
			}
			blocks.RowPtr = append(blocks.RowPtr, int64(len(blocks.Val)))
		}
	}
	blocks.Rows = 4*m*m + 1
	blocks.Cols = blocks.Rows
	for j := 0; j < blocks.Rows; j += 1000 {
		blocks.ColIdx, blocks.Val = append(blocks.ColIdx, int32(j)), append(blocks.Val, -0.01)
	}
	blocks.ColIdx, blocks.Val = append(blocks.ColIdx, int32(blocks.Rows-1)), append(blocks.Val, 4)
	blocks.RowPtr = append(blocks.RowPtr, int64(len(blocks.Val)))
	var want []float64
	for _, p := range []int{1, 2, 4, 5} {
		runtime.GOMAXPROCS(p)
		f, err := ILU0(t.Context(), blocks)
		require.NoError(t, err)
		if p < 5 {
			require.Equal(t, p, len(f.lower.starts)-1)
			for k, first := range f.lower.starts[:p] {
				require.Equal(t, k*4/p*m*m, first, "%d ranges, each of whole grids", p)
			}
		}
		require.Greater(t, f.Bytes(), 16*f.NNZ()-8*int64(blocks.Rows))
		y := make([]float64, blocks.Rows)
		for i := range y {
			y[i] = float64(i%17) - 8
		}
		f.Solve(y)
		if want == nil {
			want = y
		}
		require.Equal(t, want, y)
	}
}
