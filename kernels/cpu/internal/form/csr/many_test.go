package csr_test

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/internal/reference"
	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/csr"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/formtest"
	"github.com/msrep-go/msrep/sparse"
)

func TestRowsManyAgreesWithTheReferenceColumnByColumnAtEveryLevel(t *testing.T) {
	csr.InAllWays(t, func(t *testing.T) {
		t.Run("float64", checkRowsMany[float64])
		t.Run("float32", checkRowsMany[float32])
	})
}

func checkRowsMany[V sparse.Value](t *testing.T) {
	formtest.Levels(t, func(t *testing.T, l simd.Level) {
		rapid.Check(t, func(t *rapid.T) {
			a := formtest.DrawCSR[V](t)
			k := rapid.SampledFrom([]int{1, 2, 3, 4, 5, 7, 8, 9, 12, 16, 17, 24, 31, 32, 33, 64, 65, 70}).Draw(t, "columns")
			block := func(rows int) form.MultiVector[V] {
				stride := k + rapid.IntRange(0, 3).Draw(t, "gap")
				return form.MultiVector[V]{Val: formtest.Vector[V](t, max(rows-1, 0)*stride+k), Cols: k, Stride: stride}
			}
			x, y := block(a.Cols), block(a.Rows)
			alpha, beta := V(rapid.SampledFrom(formtest.Factors[2:]).Draw(t, "alpha")), V(rapid.SampledFrom(formtest.Factors).Draw(t, "beta"))
			column := func(b form.MultiVector[V], rows, j int) []V {
				out := make([]V, rows)
				for i := range out {
					out[i] = b.Val[i*b.Stride+j]
				}
				return out
			}
			want := make([]reference.Product, k)
			for j := range want {
				want[j] = reference.Multiply(false, alpha, a, column(x, a.Cols, j), beta, column(y, a.Rows, j))
			}
			for i := range y.Val {
				if i%y.Stride >= k {
					y.Val[i] = 12345 // between the rows
				} else if beta == 0 {
					y.Val[i] = V(math.NaN())
				}
			}
			csr.RowsMany(l, alpha, beta, a.RowPtr, a.ColIdx, a.Val, x, y)
			for j := range want {
				if i := reference.Check(column(y, a.Rows, j), want[j]); i >= 0 {
					t.Fatalf("row %d, column %d is %v, not %v", i, j, y.Val[i*y.Stride+j], want[j].Y[i])
				}
			}
			for i := range y.Val {
				if i%y.Stride >= k && y.Val[i] != 12345 {
					t.Fatalf("element %d lies between the rows and was written", i)
				}
			}
		})
	})
}

func TestRowsManyWritesLargeResultsPastTheCaches(t *testing.T) {
	formtest.Levels(t, func(t *testing.T, l simd.Level) {
		const rows, k = 1 << 18, 8
		ptr, idx, val := make([]int64, rows+1), make([]int32, rows), make([]float64, rows)
		for r := range rows {
			ptr[r+1], idx[r], val[r] = int64(r+1), int32(rows-1-r), float64(r%7)
		}
		x, y := make([]float64, rows*k), make([]float64, rows*k)
		for i := range x {
			x[i] = float64(i % 1001)
		}
		csr.RowsMany(l, 2, 0, ptr, idx, val, form.MultiVector[float64]{Val: x, Cols: k, Stride: k}, form.MultiVector[float64]{Val: y, Cols: k, Stride: k})
		for i, v := range y {
			r := i / k
			if want := 2 * val[r] * x[(rows-1-r)*k+i%k]; v != want {
				t.Fatalf("element %d is %v, not %v", i, v, want)
			}
		}
	})
}

func TestRowsManyStopsAtIndicesOutsideTheArraysAtEveryLevel(t *testing.T) {
	csr.InAllWays(t, func(t *testing.T) {
		formtest.Levels(t, func(t *testing.T, l simd.Level) {
			for _, k := range []int{1, 8, 20, 40} {
				for _, bad := range []int32{-1, 7, math.MaxInt32, math.MinInt32} {
					for at := range 3 {
						idx, val := make([]int32, 3), make([]float32, 3)
						idx[at] = bad
						x, y := form.MultiVector[float32]{Val: make([]float32, 6*(k+1)+k), Cols: k, Stride: k + 1}, form.MultiVector[float32]{Val: make([]float32, 2*k), Cols: k, Stride: k}
						require.Panics(t, func() { csr.RowsMany(l, 1, 0, []int64{0, 0, 3}, idx, val, x, y) })
					}
				}
			}
			x, y := form.MultiVector[float64]{Val: make([]float64, 8), Cols: 8, Stride: 8}, form.MultiVector[float64]{Val: make([]float64, 16), Cols: 8, Stride: 8}
			for _, ptr := range [][]int64{{0, 10, 10}, {0, 9, 8}, {0, 4, math.MaxInt64}, {0, -1, 9}, {5, 4, 9}, {0, 1, 2, 3}} {
				require.Panics(t, func() { csr.RowsMany(l, 1, 0, ptr, make([]int32, 9), make([]float64, 9), x, y) }, ptr)
			}
		})
	})
}

func TestRowsManyReadsNoRowAfterItsRows(t *testing.T) {
	csr.InAllWays(t, func(t *testing.T) {
		formtest.Levels(t, func(t *testing.T, l simd.Level) {
			const behind = 5 // entries of row 1, and its row of x, are NaN
			for _, k := range []int{1, 3, 4, 5, 8, 16} {
				for n := range 10 {
					idx, val := make([]int32, n+behind), make([]float64, n+behind)
					for i := range idx {
						val[i] = 1
						if i >= n {
							idx[i], val[i] = 1, math.Inf(1)
						}
					}
					x, y := make([]float64, 2*k), make([]float64, 2*k)
					for j := range k {
						x[j], x[k+j] = float64(j+1), math.NaN()
					}
					multiply := func() {
						csr.RowsMany(l, 1, 0, []int64{0, int64(n), int64(n + behind)}, idx, val, form.MultiVector[float64]{Val: x, Cols: k, Stride: k},
							form.MultiVector[float64]{Val: y, Cols: k, Stride: k})
					}
					check := func() {
						for j := range k {
							require.Equal(t, float64(n*(j+1)), y[j], "%d entries, column %d of %d", n, j, k)
						}
					}
					multiply()
					check()
					require.True(t, math.IsNaN(y[k]))
					clear(y)
					idx[n+1] = 2 // out of range
					require.Panics(t, multiply)
					check()
				}
			}
		})
	})
}

func TestPermuteRowsCopiesRowsAtEveryLevel(t *testing.T) {
	t.Run("float64", checkPermuteRows[float64])
	t.Run("float32", checkPermuteRows[float32])
}

func checkPermuteRows[V sparse.Value](t *testing.T) {
	formtest.Levels(t, func(t *testing.T, l simd.Level) {
		rapid.Check(t, func(t *rapid.T) {
			rows, k := rapid.IntRange(1, 9).Draw(t, "rows"), rapid.IntRange(1, 70).Draw(t, "columns")
			order := rapid.SliceOfN(rapid.Int32Range(0, int32(rows-1)), 0, 12).Draw(t, "order")
			x := form.MultiVector[V]{Cols: k, Stride: k + rapid.IntRange(0, 3).Draw(t, "gap")}
			x.Val = make([]V, (rows-1)*x.Stride+k)
			for i := range x.Val {
				x.Val[i] = V(i + 1)
			}
			stride := rapid.SampledFrom([]int{k, (k + 7) / 8 * 8, (k + 15) / 16 * 16}).Draw(t, "stride")
			const behind = 16
			room := slices.Repeat([]V{12345}, len(order)*stride+behind)
			to := form.MultiVector[V]{Val: room[:len(order)*stride], Cols: k, Stride: stride}
			csr.PermuteRows(l, order, x, to)
			for i, from := range order {
				if !slices.Equal(to.Val[i*stride:][:k], x.Val[int(from)*x.Stride:][:k]) {
					t.Fatalf("row %d is not row %d of x", i, from)
				}
			}
			require.Equal(t, slices.Repeat([]V{12345}, behind), room[len(order)*stride:])
		})
	})
}
