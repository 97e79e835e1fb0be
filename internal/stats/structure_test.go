package stats

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/sparse"
)

// scattered returns a random matrix with entries that may repeat.
func scattered(rows, cols, nnz int, seed uint64) *sparse.CSR[float64] {
	r := rand.New(rand.NewPCG(seed, 1))
	count := make([]int64, rows+1)
	for range nnz {
		count[r.IntN(rows)+1]++
	}
	for i := range rows {
		count[i+1] += count[i]
	}
	m := &sparse.CSR[float64]{Rows: rows, Cols: cols, RowPtr: count, ColIdx: make([]int32, nnz), Val: make([]float64, nnz)}
	for k := range m.ColIdx {
		m.ColIdx[k] = int32(r.IntN(cols))
	}
	return m
}

func TestDensityCountsEachEntryInItsBin(t *testing.T) {
	for _, size := range [][2]int{{1, 1}, {7, 3}, {100, 700}, {513, 512}, {1, 5000}, {5000, 1}} {
		m := scattered(size[0], size[1], 2000, 7)
		d := DensityOf(m, 64)
		require.Equal(t, []int{min(size[0], 64), min(size[1], 64)}, []int{d.Rows, d.Cols})
		want, positions := make([]int64, len(d.Count)), make([]float64, len(d.Count))
		for i := range m.Rows {
			r := d.rowBins.of(i)
			for _, j := range m.ColIdx[m.RowPtr[i]:m.RowPtr[i+1]] {
				want[int(r)*d.Cols+int(d.colBins.of(int(j)))]++
			}
			for j := range m.Cols {
				positions[int(r)*d.Cols+int(d.colBins.of(j))]++
			}
		}
		require.Equal(t, want, d.Count)
		for k, s := range d.Share() {
			require.InDelta(t, float64(want[k])/positions[k], s, 1e-12, "bin %d of %v", k, size)
		}
	}
	empty := &sparse.CSR[float64]{Rows: 0, Cols: 9, RowPtr: []int64{0}}
	require.Empty(t, DensityOf(empty, 64).Share())
}

func TestBinsCoverAllIndicesOfAnyMatrix(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 1<<31-1).Draw(t, "n")
		b := newBins(n, rapid.IntRange(1, 1024).Draw(t, "most"))
		bin := rapid.IntRange(0, int(b.bins)-1).Draw(t, "bin")
		require.Equal(t, uint64(0), b.start(0))
		require.Equal(t, b.bins-1, b.of(n-1))
		first, end := b.start(uint64(bin)), b.start(uint64(bin)+1)
		require.Less(t, first, end)
		require.Equal(t, uint64(bin), b.of(int(first)))
		require.Equal(t, uint64(bin), b.of(int(end-1)))
	})
}

func TestDiagonalsAreCountedWithAndWithoutACounterForEach(t *testing.T) {
	for _, size := range [][2]int{{50, 50}, {3, 70}, {70, 3}, {40_000_000, 5}} {
		m := scattered(size[0], size[1], 3000, 3)
		want := map[int64]int64{}
		below, above := make([]int64, 40), make([]int64, 40)
		for i := range m.Rows {
			for _, j := range m.ColIdx[m.RowPtr[i]:m.RowPtr[i+1]] {
				d := int64(j) - int64(i)
				want[d]++
				k, distance := 0, max(d, -d)
				for ; distance > 0; distance /= 2 {
					k++
				}
				if d < 0 {
					below[k]++
				} else {
					above[k]++
				}
			}
		}
		d := DiagonalsOf(m, 1<<20)
		require.Equal(t, int64(len(want)), d.Occupied)
		require.Len(t, d.Strongest, len(want))
		last := int64(-1) << 60
		for _, s := range d.Strongest {
			require.Equal(t, want[s.Offset], s.Count)
			require.Greater(t, s.Offset, last)
			last = s.Offset
			if size[0] < 100 {
				var length int64
				for i := range m.Rows {
					if j := int64(i) + s.Offset; j >= 0 && j < int64(m.Cols) {
						length++
					}
				}
				require.Equal(t, length, s.Length)
			}
		}
		require.Equal(t, below[:len(d.Below)], append([]int64{}, d.Below...))
		require.Equal(t, above[:len(d.Above)], append([]int64{}, d.Above...))
		few := DiagonalsOf(m, 4)
		require.Len(t, few.Strongest, 4)
		least := few.Strongest[0].Count
		for _, s := range few.Strongest {
			least = min(least, s.Count)
		}
		more := 0
		for _, n := range want {
			if n > least {
				more++
			}
		}
		require.Less(t, more, 4, "none is stronger than the four")
	}
	require.Zero(t, DiagonalsOf(&sparse.CSR[float64]{Rows: 0, Cols: 9, RowPtr: []int64{0}}, 4).Occupied)
}

func TestBlocksAreFoundWhereTheyAre(t *testing.T) {
	// Dense blocks of 3 x 3 on the diagonal.
	const n = 999
	m := &sparse.CSR[float64]{Rows: n, Cols: n, RowPtr: make([]int64, n+1)}
	for i := range n {
		for j := i / 3 * 3; j < i/3*3+3; j++ {
			m.ColIdx = append(m.ColIdx, int32(j))
		}
		m.RowPtr[i+1] = int64(len(m.ColIdx))
	}
	m.Val = make([]float64, len(m.ColIdx))
	for _, b := range BlocksOf(m) {
		require.Equal(t, int64(3*n), b.Entries)
		switch b.Size {
		case 3:
			require.Equal(t, int64(n/3), b.Blocks)
			require.Equal(t, 1.0, b.Fill())
		case 6:
			require.InDelta(t, 0.5, b.Fill(), 0.01)
		default:
			require.Less(t, b.Fill(), 0.8)
		}
	}
	for _, b := range BlocksOf(&sparse.CSR[float64]{Rows: 0, Cols: 9, RowPtr: []int64{0}}) {
		require.Zero(t, b.Fill())
	}
}

func TestLengthsAreCounted(t *testing.T) {
	m := &sparse.CSR[float64]{Rows: 4, Cols: 3, RowPtr: []int64{0, 2, 2, 3, 5}, ColIdx: []int32{0, 1, 0, 0, 1}, Val: make([]float64, 5)}
	s := Of(m)
	require.Equal(t, []LengthCount{{0, 1}, {1, 1}, {2, 2}}, s.RowCounts)
	require.Equal(t, []LengthCount{{0, 1}, {2, 1}, {3, 1}}, s.ColCounts)
}
