package blocks

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
)

// Values that are not in the sample may not fit 57 bits. Blocks then store plain values, and hold no memory of the
// first attempt.
func TestBlocksStorePlainValuesWhere57BitsDoNotSuffice(t *testing.T) {
	if !form.Fast57(simd.Default()) {
		t.Skip("this processor has no kernels for 57 bits")
	}
	const n = 600
	r := form.Rows[float64]{Ptr: []int64{0}, Cols: n}
	rng := rand.New(rand.NewPCG(1, 2))
	for row := range n {
		for c := range 12 {
			r.Idx, r.Val = append(r.Idx, int32(min(row/3*3, n-12)+c)), append(r.Val, 1+rng.Float64())
		}
		r.Ptr = append(r.Ptr, int64(len(r.Idx)))
	}
	seen, ok := form.Find57(r.Val)
	require.True(t, ok)
	far := 0
	for k := range 2000 { // values whose change is not noticed are not in the sample
		near := r.Val[k]
		r.Val[k] = 1e300
		if s, _ := form.Find57(r.Val); s.Bytes() == seen.Bytes() {
			far++
		} else {
			r.Val[k] = near
		}
	}
	require.Greater(t, far, 500)
	_, ok = bits57(r.Val)
	require.True(t, ok)

	build := func(build func(form.Rows[float64]) (form.Form[float64], error)) (form.Form[float64], int64) {
		r.Mem = &form.Memory{
			Alloc: func(n int64) ([]byte, error) { return mem.Aligned(n), nil },
			Mark:  func() func() error { return func() error { return nil } },
		}
		f, err := build(r)
		require.NoError(t, err)
		return f, r.Mem.Used()
	}
	got, used := build(build57[float64])
	want, plain := build(buildShort[float64])
	require.Equal(t, plain, used)
	require.Equal(t, want.Bytes(), got.Bytes())
	x, y, z := slices.Repeat([]float64{1}, n), make([]float64, n), make([]float64, n)
	got.Multiply(1, 0, x, y)
	want.Multiply(1, 0, x, z)
	require.Equal(t, z, y)
}
