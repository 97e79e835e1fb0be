package csr_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/internal/reference"
	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/csr"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/formtest"
	"github.com/msrep-go/msrep/sparse"
)

func TestRowSumsAreInOrderToTheLastBitAtEveryLevel(t *testing.T) {
	t.Run("float64", checkRowSums[float64])
	t.Run("float32", checkRowSums[float32])
}

func checkRowSums[V sparse.Value](t *testing.T) {
	formtest.Levels(t, func(t *testing.T, l simd.Level) {
		rapid.Check(t, func(t *rapid.T) {
			a := formtest.DrawCSR[V](t)
			x, sums := formtest.Vector[V](t, a.Cols), make([]V, a.Rows)
			shift := int64(rapid.IntRange(0, 100).Draw(t, "shift"))
			for i := range a.RowPtr {
				a.RowPtr[i] += shift
			}
			csr.RowSums(l, a.RowPtr, a.ColIdx, a.Val, x, sums)
			for r, got := range sums {
				k, end := a.RowPtr[r]-shift, a.RowPtr[r+1]-shift
				want := reference.FixedSum(a.ColIdx[k:end], a.Val[k:end], x)
				if got != want && (got == got || want == want) {
					t.Fatalf("row %d is %x, not %x", r, got, want)
				}
			}
		})
	})
}

func TestRowSumsPanicsAtIndicesOutsideTheArraysAtEveryLevel(t *testing.T) {
	formtest.Levels(t, func(t *testing.T, l simd.Level) {
		for _, n := range []int{1, 4, 9} {
			for _, at := range []int{0, n / 2, n - 1} {
				for _, bad := range []int32{-1, 7, math.MaxInt32, math.MinInt32} {
					for row := range 6 {
						idx, val, x, sums := make([]int32, 6*n), make([]float64, 6*n), make([]float64, 7), []float64{9, 9, 9, 9, 9, 9}
						idx[row*n+at] = bad
						ptr := []int64{0}
						for r := range sums {
							ptr = append(ptr, int64((r+1)*n))
						}
						require.Panics(t, func() { csr.RowSums(l, ptr, idx, val, x, sums) })
						for r, s := range sums {
							require.Equal(t, r < row, s == 0, "rows before it are done")
						}
					}
				}
			}
		}
		idx, val, x, sums := make([]int32, 9), make([]float32, 9), make([]float32, 1), make([]float32, 5)
		for _, ptr := range [][]int64{{0, 1, 2, 3, 4, 10}, {0, 1, 2, 3, 10, 10}, {0, 9, 8, 9, 9, 9}, {0, 4, math.MaxInt64, 9, 9, 9}, {0, -1, 0, 1, 2, 9}, {5, 4, 9, 9, 9, 9}, {0, 9}} {
			require.Panics(t, func() { csr.RowSums(l, ptr, idx, val, x, sums) }, "%v", ptr)
		}
		require.NotPanics(t, func() { csr.RowSums(l, []int64{3, 7, 12, 12, 12, 12}, idx, val, x, sums) })
	})
}
