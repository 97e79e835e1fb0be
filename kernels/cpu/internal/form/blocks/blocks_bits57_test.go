package blocks_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/blocks"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/formtest"
	"github.com/msrep-go/msrep/sparse"
)

func TestBlocksHaveTheSameBitsWithValuesIn57Bits(t *testing.T) {
	for _, l := range []simd.Level{simd.Generic, simd.AVX512} {
		if l != simd.Generic && !form.Fast57(simd.Best()) {
			continue
		}
		rapid.Check(t, func(t *rapid.T) {
			r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
			a := formtest.Patterns["blocks"](r).CSR(func() float64 { return formtest.NearValue(r) })
			rows := formtest.RowsOf(a)
			values, ok := form.Find57(a.Val)
			if ok {
				a.Val[r.IntN(len(a.Val))] = math.NaN()
			}
			shape, found := blocks.FindBlocks(rows)
			o := blocks.BlockOptions[float64]{Level: l, Shape: shape}
			full, err := blocks.NewBlocks(rows, o)
			if !found || !ok || err != nil {
				return
			}
			o.Values = values
			less := formtest.Must(blocks.NewBlocks(rows, o))(t)
			require.Contains(t, less.Name(), "bits57")
			require.LessOrEqual(t, less.Bytes(), full.Bytes()+10_000)
			x := make([]float64, a.Cols)
			for i := range x {
				x[i] = r.NormFloat64()
			}
			y, z := make([]float64, a.Rows), make([]float64, a.Rows)
			full.Multiply(1.5, 0, x, y)
			less.Multiply(1.5, 0, x, z)
			equalBits(t, y, z)
			const cols = 3
			block := func(rows int) form.MultiVector[float64] {
				return form.MultiVector[float64]{Val: make([]float64, rows*cols), Cols: cols, Stride: cols}
			}
			xs, ys, zs := block(a.Cols), block(a.Rows), block(a.Rows)
			for i := range xs.Val {
				xs.Val[i] = r.NormFloat64()
			}
			full.(form.Many[float64]).MultiplyMany(1.5, 0, xs, ys)
			less.(form.Many[float64]).MultiplyMany(1.5, 0, xs, zs)
			equalBits(t, ys.Val, zs.Val)
		})
	}
}

func equalBits(t *rapid.T, a, b []float64) {
	for i := range a {
		require.Equal(t, math.Float64bits(a[i]), math.Float64bits(b[i]), "element %d", i)
	}
}

func TestValuesThatDoNotFitIn57BitsAreRefused(t *testing.T) {
	p := formtest.BlockMatrix(rand.New(rand.NewPCG(1, 1)), 5, 5, 0)
	k := 0
	a := p.CSR(func() float64 { k++; return float64(k) / 3 })
	near, ok := form.Find57(a.Val)
	require.True(t, ok)
	for i := range a.Val {
		a.Val[i] = math.Ldexp(1, 20*(i%30))
	}
	rows := formtest.RowsOf(a)
	_, ok = form.Find57(rows.Val)
	require.False(t, ok)
	_, err := blocks.NewBlocks(rows, blocks.BlockOptions[float64]{Level: simd.Best(), Shape: blocks.BlockShape{Height: 5, Width: 5}, Values: near})
	if form.Fast57(simd.Best()) {
		require.True(t, sparse.IsInput(err), "%v", err)
		require.ErrorContains(t, err, "do not fit in 57 bits")
	}
}
