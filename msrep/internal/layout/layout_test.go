package layout

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/sparse"
)

// full returns a matrix whose entries are all stored.
func full(rows, cols int) *sparse.CSR[float64] {
	a := &sparse.CSR[float64]{Rows: rows, Cols: cols, RowPtr: make([]int64, rows+1), ColIdx: make([]int32, rows*cols), Val: make([]float64, rows*cols)}
	for i := range a.RowPtr {
		a.RowPtr[i] = int64(i * cols)
	}
	for k := range a.Val {
		a.ColIdx[k], a.Val[k] = int32(k%cols), 1
	}
	return a
}

func TestConversionsThatDoNotFitInMemoryAreErrors(t *testing.T) {
	const rows, cols = 1 << 10, 4200
	const entries = rows * cols
	csr := full(rows, cols)
	coo, csc := sparse.ToCOO[float64](csr), full(cols, rows).Transpose()
	unsorted := *coo
	unsorted.RowIdx, unsorted.ColIdx = coo.ColIdx, coo.RowIdx
	unsorted.Rows, unsorted.Cols = cols, rows
	unsorted.RowIdx[0], unsorted.RowIdx[1], unsorted.ColIdx[0] = 1, 0, 5
	for _, c := range []struct {
		name   string
		a      sparse.Matrix[float64]
		format sparse.Format
		need   int64
	}{
		{"csr into csc", csr, sparse.FormatCSC, 16*entries + 8*cols}, {"csr into coo", csr, sparse.FormatCOO, 4 * entries},
		{"csc into csr", csc, sparse.FormatCSR, 16*entries + 8*rows}, {"coo into csc", coo, sparse.FormatCSC, 12*entries + 8*cols},
		{"unsorted coo into csr", &unsorted, sparse.FormatCSR, 12*entries + 8*cols}, {"unsorted coo into coo", &unsorted, sparse.FormatCOO, 16*entries + 8*cols},
		{"csr into csr", csr, sparse.FormatCSR, 0}, {"csc into csc", csc, sparse.FormatCSC, 0}, {"coo into csr", sparse.ToCOO[float64](csr), sparse.FormatCSR, 0},
		{"coo into coo", sparse.ToCOO[float64](csr), sparse.FormatCOO, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			end := mem.SetAvailable(c.need - 1)
			_, err := New(c.a, c.format, false)
			end()
			if c.need > 0 {
				require.True(t, sparse.IsInput(err))
				require.ErrorIs(t, err, kernels.ErrOutOfMemory)
				require.ErrorContains(t, err, "matrix: 4300800 entries: to convert them from ")
			} else {
				require.NoError(t, err)
			}
			defer mem.SetAvailable(c.need)()
			_, err = New(c.a, c.format, false)
			require.NoError(t, err)
		})
	}
}

func TestTheLongestRunIsFound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var sorted []int32
		longest := int64(0)
		for i, n := range rapid.SliceOfN(rapid.SampledFrom([]int{0, 1, 5, 2047, 2048, 4095, 4096, 4097, 9000}), 0, 8).Draw(t, "runs") {
			sorted = append(sorted, slices.Repeat([]int32{int32(i)}, n)...)
			longest = max(longest, int64(n))
		}
		got := LongestRun(sorted)
		require.LessOrEqual(t, got, longest)
		if longest >= 4096 {
			require.Equal(t, longest, got)
		}
	})
}

func TestIndexRangeOfManyIndices(t *testing.T) {
	idx := make([]int32, 1<<18)
	for i := range idx {
		idx[i] = 1000 + int32(i%7)
	}
	for _, at := range [][2]int{{0, len(idx) - 1}, {len(idx) - 1, 0}, {1 << 16, 1<<17 + 1}} {
		with := slices.Clone(idx)
		with[at[0]], with[at[1]] = 3, math.MaxInt32-1
		lo, hi := IndexRange(with)
		require.Equal(t, []int{3, math.MaxInt32}, []int{lo, hi})
	}
	lo, hi := IndexRange(nil)
	require.Equal(t, lo, hi)
}
