package simd_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/internal/reference"
	"github.com/msrep-go/msrep/kernels/cpu/simd"
	"github.com/msrep-go/msrep/sparse"
)

func TestRowSumsAreInOrderToTheLastBitAtEveryLevel(t *testing.T) {
	t.Run("float64", checkRowSums[float64])
	t.Run("float32", checkRowSums[float32])
}

func checkRowSums[V sparse.Value](t *testing.T) {
	levels(t, func(t *testing.T, l simd.Level) {
		rapid.Check(t, func(t *rapid.T) {
			a := drawCSR[V](t)
			x, sums := vector[V](t, a.Cols), make([]V, a.Rows)
			shift := int64(rapid.IntRange(0, 100).Draw(t, "shift"))
			for i := range a.RowPtr {
				a.RowPtr[i] += shift
			}
			simd.RowSums(l, a.RowPtr, a.ColIdx, a.Val, x, sums)
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
	levels(t, func(t *testing.T, l simd.Level) {
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
						require.Panics(t, func() { simd.RowSums(l, ptr, idx, val, x, sums) })
						for r, s := range sums {
							require.Equal(t, r < row, s == 0, "rows before it are done")
						}
					}
				}
			}
		}
		idx, val, x, sums := make([]int32, 9), make([]float32, 9), make([]float32, 1), make([]float32, 5)
		for _, ptr := range [][]int64{{0, 1, 2, 3, 4, 10}, {0, 1, 2, 3, 10, 10}, {0, 9, 8, 9, 9, 9}, {0, 4, math.MaxInt64, 9, 9, 9}, {0, -1, 0, 1, 2, 9}, {5, 4, 9, 9, 9, 9}, {0, 9}} {
			require.Panics(t, func() { simd.RowSums(l, ptr, idx, val, x, sums) }, "%v", ptr)
		}
		require.NotPanics(t, func() { simd.RowSums(l, []int64{3, 7, 12, 12, 12, 12}, idx, val, x, sums) })
	})
}

func TestFMAOfFloat32RoundsOnce(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	float := func() float32 {
		return math.Float32frombits(r.Uint32()&0x807FFFFF | uint32(r.IntN(60)+100)<<23)
	}
	for range 100_000 {
		a, b, c := float(), float(), float()
		if r.IntN(2) == 0 { // a product near the middle of two float32
			c = -a * b * (1 + float32(r.IntN(5)-2)/(1<<20))
		}
		require.Equal(t, reference.FMA(a, b, c), simd.FMA(a, b, c), "%x*%x+%x", a, b, c)
	}
}

func TestStoreRowsGivesTheSameBitsAtEveryLevelAndOneNaN(t *testing.T) {
	t.Run("float64", checkFinish[float64])
	t.Run("float32", checkFinish[float32])
}

func checkFinish[V sparse.Value](t *testing.T) {
	bits := func(v V) uint64 { return math.Float64bits(float64(v)) }
	levels(t, func(t *testing.T, l simd.Level) {
		rapid.Check(t, func(t *rapid.T) {
			n := rapid.IntRange(0, 80).Draw(t, "n")
			sums, y := vector[V](t, n), vector[V](t, n)
			alpha, beta := V(value(t)), V(rapid.SampledFrom(factors).Draw(t, "beta"))
			want := make([]V, n)
			for i, s := range sums {
				if want[i] = alpha * s; beta != 0 {
					want[i] = reference.FMA(beta, y[i], want[i])
				}
			}
			simd.StoreRows(l, alpha, beta, sums, y, rapid.Bool().Draw(t, "stream"))
			simd.Fence(l)
			for i, v := range y {
				if v != v {
					v = V(math.Float64frombits(0x7FF8000000000000))
					if bits(v) != bits(y[i]) {
						t.Fatalf("element %d is another NaN", i)
					}
				}
				if v != want[i] && (v == v || want[i] == want[i]) || v == v && math.Signbit(float64(v)) != math.Signbit(float64(want[i])) {
					t.Fatalf("element %d is %x, not %x", i, v, want[i])
				}
			}
		})
	})
}
