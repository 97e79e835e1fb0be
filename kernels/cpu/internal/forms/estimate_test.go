package forms_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/blocks"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/diagonals"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/formtest"
	"github.com/msrep-go/msrep/sparse"
)

// Small matrices are inspected completely: an estimate then equals the memory of the form, except
// for what a product does not read.
func TestEstimatesAreNearWhatTheFormsTake(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for kind, build := range map[string]func(form.Rows[float64]) (form.Estimate, error, form.Form[float64], error){
		"band": func(r form.Rows[float64]) (form.Estimate, error, form.Form[float64], error) {
			o := diagonals.DiagonalOptions[float64]{Level: simd.Best(), Values: form.FindValues(r.Val)}
			e, err := diagonals.EstimateDiagonals(r, o)
			f, err2 := diagonals.NewDiagonals(r, o)
			return e, err, f, err2
		},
		"blocks": func(r form.Rows[float64]) (form.Estimate, error, form.Form[float64], error) {
			shape, _ := blocks.FindBlocks(r)
			o := blocks.BlockOptions[float64]{Level: simd.Best(), Shape: shape, Values: form.FindValues(r.Val)}
			e, err := blocks.EstimateBlocks(r, o)
			f, err2 := blocks.NewBlocks(r, o)
			return e, err, f, err2
		},
	} {
		for _, values := range []string{"any", "float32"} {
			value := func() float64 { return formtest.ValueKinds[values](r) }
			var a *sparse.CSR[float64]
			switch kind {
			case "band":
				a = formtest.Tridiagonal(5000, func(int) float64 { return value() })
			case "blocks":
				p := formtest.BlockMatrix(r, 5, 5, 0)
				for range 40 {
					p.Rows = append(p.Rows, formtest.BlockMatrix(r, 5, 5, 0).Rows...)
				}
				a = p.CSR(value)
			}
			e, err, f, err2 := build(formtest.RowsOf(a))
			require.NoError(t, err)
			require.NoError(t, err2)
			n := float64(a.NNZ())
			require.InDelta(t, float64(f.Padding())/n, e.Padding, .02, kind)
			require.InDelta(t, float64(f.Bytes())/n, e.EntryBytes, 1.2, kind)
		}
	}
}

func TestEstimatesOfUnsuitableMatricesFail(t *testing.T) {
	p := formtest.Pattern{Cols: 100_000}
	r := rand.New(rand.NewPCG(1, 1))
	for range 2000 {
		p.Rows = append(p.Rows, formtest.AnyRow(r, p.Cols, 8))
	}
	a := p.CSR(func() float64 { return 1 })
	rows := formtest.RowsOf(a)
	_, err := diagonals.EstimateDiagonals(rows, diagonals.DiagonalOptions[float64]{})
	require.True(t, sparse.IsInput(err), "%v", err)
	_, ok := blocks.FindBlocks(rows)
	require.False(t, ok)
	_, err = blocks.EstimateBlocks(rows, blocks.BlockOptions[float64]{Shape: blocks.BlockShape{Height: 2, Width: 2}})
	require.True(t, sparse.IsInput(err), "%v", err)
}

// Three in five rows have four diagonals and the others one, and the first rows, at which an estimate looks first, have
// none that others have.
func TestDiagonalsOfHalfEmptyRowsAreEstimated(t *testing.T) {
	p := formtest.Pattern{Cols: 3000}
	r := rand.New(rand.NewPCG(1, 1))
	for i := range int32(3000) {
		row := []int32{i}
		switch {
		case i < 16:
			row = []int32{i, i + 1 + r.Int32N(2000)}
		case r.IntN(5) < 3 && i < 2980:
			row = append(row, i+5, i+9, i+11)
		}
		p.Rows = append(p.Rows, row)
	}
	a := p.CSR(func() float64 { return r.NormFloat64() })
	e, err := diagonals.EstimateDiagonals(formtest.RowsOf(a), diagonals.DiagonalOptions[float64]{Level: simd.Best()})
	require.NoError(t, err)
	f, err := diagonals.NewDiagonals(formtest.RowsOf(a), diagonals.DiagonalOptions[float64]{Level: simd.Best()})
	require.NoError(t, err)
	require.InDelta(t, float64(f.Bytes())/float64(a.NNZ()), e.EntryBytes, .7)
}
