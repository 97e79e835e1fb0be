package form_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/kernels/cpu/form"
	"github.com/msrep-go/msrep/kernels/cpu/simd"
	"github.com/msrep-go/msrep/sparse"
)

// Small matrices are inspected completely: an estimate then equals the memory of the form, except
// for what a product does not read.
func TestEstimatesAreNearWhatTheFormsTake(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for kind, build := range map[string]func(form.Rows[float64]) (form.Estimate, error, form.Form[float64], error){
		"band": func(r form.Rows[float64]) (form.Estimate, error, form.Form[float64], error) {
			o := form.DiagonalOptions[float64]{Level: simd.Best(), Values: form.FindValues(r.Val)}
			e, err := form.EstimateDiagonals(r, o)
			f, err2 := form.NewDiagonals(r, o)
			return e, err, f, err2
		},
		"blocks": func(r form.Rows[float64]) (form.Estimate, error, form.Form[float64], error) {
			shape, _ := form.FindBlocks(r)
			o := form.BlockOptions[float64]{Level: simd.Best(), Shape: shape, Values: form.FindValues(r.Val)}
			e, err := form.EstimateBlocks(r, o)
			f, err2 := form.NewBlocks(r, o)
			return e, err, f, err2
		},
	} {
		for _, values := range []string{"any", "float32"} {
			value := func() float64 { return valueKinds[values](r) }
			var a *sparse.CSR[float64]
			switch kind {
			case "band":
				a = tridiagonal(5000, func(int) float64 { return value() })
			case "blocks":
				p := blockMatrix(r, 5, 5, 0)
				for range 40 {
					p.rows = append(p.rows, blockMatrix(r, 5, 5, 0).rows...)
				}
				a = p.csr(value)
			}
			e, err, f, err2 := build(rowsOf(a))
			require.NoError(t, err)
			require.NoError(t, err2)
			n := float64(a.NNZ())
			require.InDelta(t, float64(f.Padding())/n, e.Padding, .02, kind)
			require.InDelta(t, float64(f.Bytes())/n, e.EntryBytes, 1.2, kind)
		}
	}
}

func TestEstimatesOfUnsuitableMatricesFail(t *testing.T) {
	p := pattern{cols: 100_000}
	r := rand.New(rand.NewPCG(1, 1))
	for range 2000 {
		p.rows = append(p.rows, anyRow(r, p.cols, 8))
	}
	a := p.csr(func() float64 { return 1 })
	rows := rowsOf(a)
	_, err := form.EstimateDiagonals(rows, form.DiagonalOptions[float64]{})
	require.True(t, sparse.IsInput(err), "%v", err)
	_, ok := form.FindBlocks(rows)
	require.False(t, ok)
	_, err = form.EstimateBlocks(rows, form.BlockOptions[float64]{Shape: form.BlockShape{Height: 2, Width: 2}})
	require.True(t, sparse.IsInput(err), "%v", err)
}
