package slices_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/formtest"
	slicesform "github.com/msrep-go/msrep/kernels/cpu/internal/form/slices"
)

// The arguments of kernels are not allocated.
func TestProductsOfSlicesDoNotAllocate(t *testing.T) {
	formtest.Levels(t, func(t *testing.T, l simd.Level) {
		const n, cols = 3001, 8
		r := rand.New(rand.NewPCG(1, 2))
		p := formtest.Pattern{Cols: n}
		for range n {
			p.Rows = append(p.Rows, formtest.AnyRow(r, n, 1+r.IntN(9)))
		}
		rows := formtest.RowsOf(p.CSR(r.Float64))
		s := formtest.Must(slicesform.NewSlices(rows, slicesform.SliceOptions[float64]{Level: l}))(t)
		x, y := make([]float64, n*cols), make([]float64, n*cols)
		to := func(lo, hi int) []float64 { return y[lo:hi] }
		for name, product := range map[string]func(){
			"Multiply":           func() { s.Multiply(2, 1, x[:n], y[:n]) },
			"Multiply to rows":   func() { s.Multiply(2, 0, x[:n], y[:n]) },
			"MultiplyTransposed": func() { s.MultiplyTransposed(2, x[:n], to) },
			"MultiplyMany": func() {
				s.(form.Many[float64]).MultiplyMany(2, 0, form.MultiVector[float64]{Val: x, Cols: cols, Stride: cols}, form.MultiVector[float64]{Val: y, Cols: cols, Stride: cols})
			},
		} {
			require.Zero(t, testing.AllocsPerRun(10, product), name)
		}
	})
}
