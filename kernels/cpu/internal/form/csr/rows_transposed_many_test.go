package csr_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/reference"
	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/csr"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/formtest"
	"github.com/msrep-go/msrep/sparse"
)

func TestRowsTransposedManyAgreesWithTheReferenceColumnByColumnAtEveryLevel(t *testing.T) {
	t.Run("float64", checkScatterMany[float64])
	t.Run("float32", checkScatterMany[float32])
}

// checkScatterMany adds to a few rows of the result, more of which become ready when an entry needs
// them, and to a block of all others, and joins both.
func checkScatterMany[V sparse.Value](t *testing.T) {
	formtest.Levels(t, func(t *testing.T, l simd.Level) {
		rapid.Check(t, func(t *rapid.T) {
			a := formtest.DrawCSR[V](t)
			k := rapid.IntRange(1, form.VectorsAtOnce[V]()).Draw(t, "columns")
			width := form.VectorsAtOnce[V]()
			if k <= width/2 {
				width /= 2
			}
			block := func(rows, k int, value func(*rapid.T) float64) form.MultiVector[V] {
				stride := k + rapid.IntRange(0, 3).Draw(t, "gap")
				b := form.MultiVector[V]{Val: make([]V, max(rows*stride, k)), Cols: k, Stride: stride}
				for i := range b.Val {
					if b.Val[i] = V(math.NaN()); i%stride < k {
						b.Val[i] = V(value(t))
					}
				}
				return b.First(rows)
			}
			zero := func(*rapid.T) float64 { return 0 }
			first := rapid.IntRange(0, a.Cols).Draw(t, "first")
			own := rapid.IntRange(0, a.Cols-first).Draw(t, "own")
			x := block(a.Rows, k, formtest.Value)
			to := csr.Places[V]{Rows: a.Cols, First: first, Own: own, Y: block(own, width, zero), Spill: block(a.Cols, width, zero), Marks: make([]byte, 1)}
			alpha := V(rapid.SampledFrom([]float64{1, -1, 1.5}).Draw(t, "alpha"))
			if rapid.Bool().Draw(t, "tiny alpha") {
				least := -1022 // alpha*x loses digits
				if mem.Size[V]() == 4 {
					least = -126
				}
				alpha = V(math.Ldexp(float64(alpha), least+3))
			}
			column := func(b form.MultiVector[V], rows, j int) []V {
				out := make([]V, rows)
				for i := range out {
					out[i] = b.Val[i*b.Stride+j]
				}
				return out
			}
			asks := rapid.SampledFrom([]int64{0, a.NNZ()}).Draw(t, "asks")
			for from := int64(0); from < a.NNZ(); {
				if from = csr.RowsTransposedMany(l, alpha, from, a.RowPtr, a.ColIdx, a.Val, x, &to, asks); from < a.NNZ() {
					require.GreaterOrEqual(t, int(a.ColIdx[from]), first+to.Done)
					require.Less(t, int(a.ColIdx[from]), first+own)
					to.Done = int(a.ColIdx[from]) - first + 1
				}
			}
			for j := range k {
				want := reference.Multiply(true, alpha, a, column(x, a.Rows, j), 0, make([]V, a.Cols))
				got := column(to.Spill, a.Cols, j)
				for i, v := range column(to.Y, own, j) {
					require.Zero(t, got[first+i], "both in y and beside it")
					got[first+i] = v
				}
				require.Equal(t, -1, reference.Check(got, want), "column %d", j)
			}
			for _, c := range a.ColIdx {
				require.True(t, int(c) >= first && int(c) < first+own || to.Marks[0] != 0)
			}
			for _, b := range []form.MultiVector[V]{to.Y, to.Spill} {
				for i, v := range b.Val {
					require.False(t, i%b.Stride >= width && v == v, "written between the rows")
				}
			}
		})
	})
}

func TestRowsTransposedManyStopsAtIndicesOutsideTheArraysAtEveryLevel(t *testing.T) {
	formtest.Levels(t, func(t *testing.T, l simd.Level) {
		for _, k := range []int{4, 8} {
			block := form.MultiVector[float64]{Val: make([]float64, 6*k), Cols: k, Stride: k}
			launch := func(ptr []int64, idx ...int32) func() {
				to := csr.Places[float64]{Rows: 6, Own: 6, Done: 6, Y: block, Spill: block, Marks: make([]byte, 1)}
				return func() {
					csr.RowsTransposedMany(l, 1, ptr[0], ptr, idx, make([]float64, len(idx)), block.First(len(ptr)-1), &to, 0)
				}
			}
			require.NotPanics(t, launch([]int64{7, 7, 10}, 5, 0, 5))
			for at := range 3 {
				for _, bad := range []int32{-1, 6, math.MaxInt32, math.MinInt32} {
					idx := make([]int32, 3)
					idx[at] = bad
					require.Panics(t, launch([]int64{7, 7, 10}, idx...), bad)
				}
			}
			require.Panics(t, launch([]int64{0, 2, 1}, 1, 2, 3))
			require.NotPanics(t, launch([]int64{0, 2, 9}, 1, 2, 3), "entries may be some of a row")
		}
	})
}
