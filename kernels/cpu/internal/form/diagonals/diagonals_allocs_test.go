package diagonals_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/diagonals"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/formtest"
)

// The arguments of kernels are not allocated.
func TestProductsOfDiagonalsDoNotAllocate(t *testing.T) {
	formtest.Levels(t, func(t *testing.T, l simd.Level) {
		const n = 3001
		a := formtest.Tridiagonal(n, func(k int) float64 { return float64(1 + (k+1)/3%1000) })
		rows := formtest.RowsOf(a)
		x, y := make([]float64, n), make([]float64, n)
		to := func(lo, hi int) []float64 { return y[lo:hi] }
		d := formtest.Must(diagonals.NewDiagonals(rows, diagonals.DiagonalOptions[float64]{Level: l}))(t)
		many := func(cols int) func() {
			x, y := make([]float64, n*cols), make([]float64, n*cols)
			return func() {
				d.(form.Many[float64]).MultiplyMany(2, 0, form.MultiVector[float64]{Val: x, Cols: cols, Stride: cols}, form.MultiVector[float64]{Val: y, Cols: cols, Stride: cols})
			}
		}
		for _, c := range []struct {
			name    string
			product func()
			most    float64
		}{
			{"Multiply", func() { d.Multiply(2, 1, x, y) }, 0},
			{"MultiplyTransposed", func() { d.MultiplyTransposed(2, x, to) }, 0},
			{"MultiplyMany of 4", many(4), 2}, // the order of the rows, and an empty buffer
			{"MultiplyMany of 8", many(8), 2},
		} {
			require.LessOrEqual(t, testing.AllocsPerRun(10, c.product), c.most, c.name)
		}
	})
}
