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

// Three in five rows have four diagonals and the others one, and the first rows, at which an estimate looks first, have
// none that others have.
func TestDiagonalsOfHalfEmptyRowsAreEstimated(t *testing.T) {
	p := pattern{cols: 3000}
	r := rand.New(rand.NewPCG(1, 1))
	for i := range int32(3000) {
		row := []int32{i}
		switch {
		case i < 16:
			row = []int32{i, i + 1 + r.Int32N(2000)}
		case r.IntN(5) < 3 && i < 2980:
			row = append(row, i+5, i+9, i+11)
		}
		p.rows = append(p.rows, row)
	}
	a := p.csr(func() float64 { return r.NormFloat64() })
	e, err := form.EstimateDiagonals(rowsOf(a), form.DiagonalOptions[float64]{Level: simd.Best()})
	require.NoError(t, err)
	f, err := form.NewDiagonals(rowsOf(a), form.DiagonalOptions[float64]{Level: simd.Best()})
	require.NoError(t, err)
	require.InDelta(t, float64(f.Bytes())/float64(a.NNZ()), e.EntryBytes, .7)
}

// One row in 300 has long runs and most of the entries.
func TestEstimatesOfRunsCountLongRowsByTheirEntries(t *testing.T) {
	if !simd.FastRuns(simd.Best()) {
		t.Skip("no fast kernels for runs")
	}
	p := pattern{cols: 6000}
	r := rand.New(rand.NewPCG(1, 1))
	short := pattern{cols: 6000}
	for i := range 2100 {
		row := anyRow(r, p.cols, 3)
		short.rows = append(short.rows, row)
		if i%300 == 0 {
			row = row[:0]
			for c := range int32(6000) {
				row = append(row, c)
			}
		}
		p.rows = append(p.rows, row)
	}
	value := func() float64 { return r.NormFloat64() }
	e, err := form.EstimateRuns(rowsOf(p.csr(value)), form.RunOptions[float64]{Level: simd.Best()})
	require.NoError(t, err)
	f, err := form.NewRuns(rowsOf(p.csr(value)), form.RunOptions[float64]{Level: simd.Best()})
	require.NoError(t, err)
	n := float64(p.csr(value).NNZ())
	require.InDelta(t, float64(f.Bytes())/n, e.EntryBytes, .5)
	_, err = form.EstimateRuns(rowsOf(short.csr(value)), form.RunOptions[float64]{Level: simd.Best()})
	require.True(t, sparse.IsInput(err), "%v", err)
}

func TestWindowsWhoseColumnsAreFarApartAreCounted(t *testing.T) {
	band := func(far int32) form.Rows[float64] {
		p := pattern{cols: 300_000}
		for i := range int32(100_000) {
			row := []int32{i, i + 3}
			if i >= 50_000 {
				row = append(row, i+far)
			}
			p.rows = append(p.rows, row)
		}
		return rowsOf(p.csr(func() float64 { return 1 }))
	}
	require.Zero(t, form.WideWindows(band(60_000), simd.Best()))
	require.InDelta(t, .5, form.WideWindows(band(70_000), simd.Best()), .07)
	outside := band(70_000)
	outside.Cols = 100
	require.Zero(t, form.WideWindows(outside, simd.Best()))
	require.Zero(t, form.WideWindows(form.Rows[float64]{Ptr: []int64{0}}, simd.Best()))
}
