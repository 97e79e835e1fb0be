package csr_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/internal/reference"
	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/csr"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/formtest"
	"github.com/msrep-go/msrep/sparse"
)

func TestRowsAgreeWithTheReferenceAtEveryLevel(t *testing.T) {
	csr.InAllWays(t, func(t *testing.T) {
		t.Run("float64", checkRows[float64])
		t.Run("float32", checkRows[float32])
	})
}

func checkRows[V sparse.Value](t *testing.T) {
	formtest.Levels(t, func(t *testing.T, l simd.Level) {
		rapid.Check(t, func(t *rapid.T) {
			a := formtest.DrawCSR[V](t)
			x, y := formtest.Vector[V](t, a.Cols), formtest.Vector[V](t, a.Rows)
			alpha, beta := V(rapid.SampledFrom(formtest.Factors[2:]).Draw(t, "alpha")), V(rapid.SampledFrom(formtest.Factors).Draw(t, "beta"))
			want := reference.Multiply(false, alpha, a, x, beta, y)
			if beta == 0 {
				for i := range y {
					y[i] = V(math.NaN())
				}
			}
			shift := int64(rapid.IntRange(0, 100).Draw(t, "shift"))
			for i := range a.RowPtr {
				a.RowPtr[i] += shift
			}
			csr.Rows(l, alpha, beta, a.RowPtr, a.ColIdx, a.Val, x, y)
			if i := reference.Check(y, want); i >= 0 {
				t.Fatalf("row %d is %v, not %v", i, y[i], want.Y[i])
			}
		})
	})
}

func TestIndicesOutsideTheArraysPanicAtEveryLevel(t *testing.T) {
	formtest.Levels(t, func(t *testing.T, l simd.Level) {
		for _, n := range []int{1, 2, 3, 4, 5, 8, 9, 24} {
			for _, at := range []int{0, n / 2, n - 1} {
				for _, bad := range []int32{-1, 7, math.MaxInt32, math.MinInt32} {
					idx, val, x, y := make([]int32, n), make([]float64, n), make([]float64, 7), []float64{9, 9, 9}
					idx[at] = bad
					require.Panics(t, func() { csr.Rows(l, 1, 0, []int64{0, 0, int64(n), int64(n)}, idx, val, x, y) })
					require.Equal(t, []float64{0, 9, 9}, y, "rows before it are done")
				}
			}
		}
		idx, val, x, y := make([]int32, 9), make([]float32, 9), make([]float32, 1), make([]float32, 2)
		for _, ptr := range [][]int64{{0, 10, 10}, {0, 9, 8}, {0, 4, math.MaxInt64}, {0, -1, 9}, {5, 4, 9}, {0, 9}} {
			require.Panics(t, func() { csr.Rows(l, 1, 0, ptr, idx, val, x, y) }, fmt.Sprint(ptr))
		}
		require.NotPanics(t, func() { csr.Rows(l, 1, 0, []int64{3, 7, 12}, idx, val, x, y) })
	})
}

func TestRowsStopBeforeIndicesOutsideTheArraysAtEveryLevel(t *testing.T) {
	csr.InAllWays(t, func(t *testing.T) {
		for name, length := range lengthsOfRows {
			t.Run(name, func(t *testing.T) { checkEnd(t, length) })
		}
	})
}

// lengthsOfRows returns the number of entries of row r, for each way in which rows are summed.
var lengthsOfRows = map[string]func(r int) int{
	"few":    func(r int) int { return r * r % 11 },
	"short":  func(r int) int { return 3 + r*r%2 },
	"spare":  func(r int) int { return 4 - 2*(r%2) }, // the last ones of a block are read together with the entries after it
	"alike":  func(r int) int { return 9 },
	"varied": func(r int) int { return 17 + r*r%11 },
}

func checkEnd(t *testing.T, length func(r int) int) {
	const rows, cols = 75, 9
	ptr := make([]int64, rows+1)
	for r := range rows {
		ptr[r+1] = ptr[r] + int64(length(r))
	}
	n := int(ptr[rows])
	idx, val, x := make([]int32, n), make([]float64, n), make([]float64, cols)
	for k := range idx {
		idx[k], val[k] = int32(k%cols), 1
	}
	for c := range x {
		x[c] = 1
	}
	formtest.Levels(t, func(t *testing.T, l simd.Level) {
		// check expects that the rows before the given one are done and that the others are
		// unchanged.
		check := func(row int, ptr []int64, idx []int32) {
			y, want := make([]float64, rows), make([]float64, rows)
			for r := range y {
				if y[r], want[r] = 7, 7; r < row {
					want[r] = float64(ptr[r+1] - ptr[r])
				}
			}
			require.Panics(t, func() { csr.Rows(l, 1, 0, ptr, idx, val, x, y) })
			require.Equal(t, want, y)
		}
		for r := range rows {
			if ptr[r] < ptr[r+1] {
				for _, bad := range []int32{-1, cols, math.MaxInt32, math.MinInt32} {
					for _, k := range []int64{ptr[r], ptr[r+1] - 1} {
						idx := slices.Clone(idx)
						idx[k] = bad
						check(r, ptr, idx)
					}
				}
			}
			for _, bad := range []int64{ptr[r] - 1, int64(n) + 1, math.MinInt64, math.MaxInt64} {
				ptr := slices.Clone(ptr)
				ptr[r+1] = bad
				check(r, ptr, idx)
			}
		}
	})
}

func TestRowsTransposedStopsAtTheFirstEntryOutsideYAtEveryLevel(t *testing.T) {
	t.Run("float64", checkScatter[float64])
	t.Run("float32", checkScatter[float32])
}

// checkScatter scatters to a window of y, and adds the entries outside it one by one.
func checkScatter[V sparse.Value](t *testing.T) {
	formtest.Levels(t, func(t *testing.T, l simd.Level) {
		rapid.Check(t, func(t *rapid.T) {
			a := formtest.DrawCSR[V](t)
			x, y := formtest.Vector[V](t, a.Rows), formtest.Vector[V](t, a.Cols)
			alpha := V(rapid.SampledFrom(formtest.Factors[2:]).Draw(t, "alpha"))
			want := reference.Multiply(true, alpha, sparse.Matrix[V](a), x, 1, y)
			first := rapid.IntRange(0, a.Cols).Draw(t, "first")
			window := y[first:rapid.IntRange(first, a.Cols).Draw(t, "end")]
			far := rapid.Bool().Draw(t, "far")
			r := 0
			for k := 0; k < len(a.ColIdx); {
				for a.RowPtr[r+1] <= int64(k) {
					r++
				}
				ptr := append([]int64{int64(k)}, a.RowPtr[r+1:]...)
				done := csr.RowsTransposed(l, alpha, ptr, a.ColIdx[k:], a.Val[k:], x[r:], window, first, far)
				for _, i := range a.ColIdx[k : k+done] {
					if int(i) < first || int(i) >= first+len(window) {
						t.Fatalf("index %d was not beside the window [%d, %d)", i, first, first+len(window))
					}
				}
				if k += done; k == len(a.ColIdx) {
					break
				}
				for a.RowPtr[r+1] <= int64(k) {
					r++
				}
				y[a.ColIdx[k]] += a.Val[k] * (alpha * x[r])
				k++
			}
			if i := reference.Check(y, want); i >= 0 {
				t.Fatalf("element %d is %v, not %v", i, y[i], want.Y[i])
			}
		})
	})
}

func TestRowsTransposedTakesRowsOfAnyLengthAtEveryLevel(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	whole := func() float64 { return float64(rng.IntN(2000) - 1000) } // sums are exact, in any order
	x, ptr := []float64{}, []int64{5}
	var idx []int32
	var val []float64
	for _, n := range []int{0, 1, 3, 5000, 0, 7, 8, 9, 1000, 1024, 1025, 0, 2, 17, 2048, 1} {
		x, ptr = append(x, whole()), append(ptr, ptr[len(ptr)-1]+int64(n))
		for range n {
			idx, val = append(idx, rng.Int32N(500)), append(val, whole())
		}
	}
	for _, stop := range []int{0, 5, 700, 5003, 5004, 6030, len(idx) - 1, len(idx)} { // entry outside y
		idx := slices.Clone(idx)
		if stop < len(idx) {
			idx[stop] = 500
		}
		want := make([]float64, 500)
		for r := range x {
			for k := ptr[r] - 5; k < min(ptr[r+1]-5, int64(stop)); k++ {
				want[idx[k]] += val[k] * (2 * x[r])
			}
		}
		formtest.Levels(t, func(t *testing.T, l simd.Level) {
			for _, far := range []bool{false, true} {
				y := make([]float64, 500)
				require.Equal(t, stop, csr.RowsTransposed(l, 2, ptr, idx, val, x, y, 0, far))
				require.Equal(t, want, y)
			}
		})
	}
}

func TestScatterPanicsWhenPointersLeaveTheEntriesAtEveryLevel(t *testing.T) {
	formtest.Levels(t, func(t *testing.T, l simd.Level) {
		idx, val, x, y := make([]int32, 9), make([]float64, 9), make([]float64, 2), make([]float64, 1)
		for _, ptr := range [][]int64{{0, 10, 10}, {0, 9, 8}, {0, 4, math.MaxInt64}, {0, -1, 8}, {0, 4, 8}, {0, 9}} {
			require.Panics(t, func() { csr.RowsTransposed(l, 1, ptr, idx, val, x, y, 0, false) }, fmt.Sprint(ptr))
		}
		require.Equal(t, 9, csr.RowsTransposed(l, 1, []int64{3, 7, 12}, idx, val, x, y, 0, true))
		require.Equal(t, 0, csr.RowsTransposed(l, 1, []int64{3, 7, 12}, idx, val, x, y, 1, true))
	})
}
