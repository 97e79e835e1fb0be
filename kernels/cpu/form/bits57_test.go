package form_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/kernels/cpu/form"
	"github.com/msrep-go/msrep/kernels/cpu/simd"
	"github.com/msrep-go/msrep/sparse"
)

// anyValues is a way to store values.
func anyValues[V sparse.Value](t *rapid.T, val []V) form.ValueSet[V] {
	switch rapid.SampledFrom([]string{"as they are", "found", "57 bits"}).Draw(t, "stored") {
	case "found":
		return form.FindValues(val)
	case "57 bits":
		if s, ok := form.Find57(val); ok {
			return s
		}
	}
	return form.ValueSet[V]{}
}

// nearValue returns a value with one of 16 exponents, rarely another one.
func nearValue(r *rand.Rand) float64 {
	if r.IntN(400) == 0 {
		return []float64{
			0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN(), math.Float64frombits(0xFFF0_0000_DEAD_BEEF),
			math.SmallestNonzeroFloat64, -1e-310, math.MaxFloat64, 1e9, -1e-9,
		}[r.IntN(11)]
	}
	return math.Ldexp(1+r.Float64(), r.IntN(16)) * float64(1-2*r.IntN(2))
}

func TestBlocksHaveTheSameBitsWithValuesIn57Bits(t *testing.T) {
	for _, l := range []simd.Level{simd.Generic, simd.AVX512} {
		if l != simd.Generic && !simd.Fast57(simd.Best()) {
			continue
		}
		rapid.Check(t, func(t *rapid.T) {
			r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
			a := patterns["blocks"](r).csr(func() float64 { return nearValue(r) })
			rows := rowsOf(a)
			values, ok := form.Find57(a.Val)
			if ok {
				a.Val[r.IntN(len(a.Val))] = math.NaN()
			}
			shape, found := form.FindBlocks(rows)
			o := form.BlockOptions[float64]{Level: l, Shape: shape}
			full, err := form.NewBlocks(rows, o)
			if !found || !ok || err != nil {
				return
			}
			o.Values = values
			less := must(form.NewBlocks(rows, o))(t)
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
			block := func(rows int) simd.MultiVector[float64] {
				return simd.MultiVector[float64]{Val: make([]float64, rows*cols), Cols: cols, Stride: cols}
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
	p := blockMatrix(rand.New(rand.NewPCG(1, 1)), 5, 5, 0)
	k := 0
	a := p.csr(func() float64 { k++; return float64(k) / 3 })
	near, ok := form.Find57(a.Val)
	require.True(t, ok)
	for i := range a.Val {
		a.Val[i] = math.Ldexp(1, 20*(i%30))
	}
	rows := rowsOf(a)
	_, ok = form.Find57(rows.Val)
	require.False(t, ok)
	_, err := form.NewBlocks(rows, form.BlockOptions[float64]{Level: simd.Best(), Shape: form.BlockShape{Height: 5, Width: 5}, Values: near})
	if simd.Fast57(simd.Best()) {
		require.True(t, sparse.IsInput(err), "%v", err)
		require.ErrorContains(t, err, "do not fit in 57 bits")
	}
}
