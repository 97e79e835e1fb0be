package cpu

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu/simd"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

// shape is the sum of kernels.GatherFixed, entry by entry. fma rounds once.
func shape[V sparse.Value](fma func(a, b, c V) V, idx []int32, val, x []V) V {
	var s [kernels.FixedStripes]V
	var chunk V
	chunks := (len(idx) + kernels.FixedChunk - 1) / kernels.FixedChunk
	for c := range chunks {
		lo, hi := c*kernels.FixedChunk, min((c+1)*kernels.FixedChunk, len(idx))
		whole := hi - (hi-lo)%kernels.FixedLanes
		var lane [kernels.FixedLanes]V
		for k := lo; k < whole; k++ {
			lane[k%len(lane)] = fma(val[k], x[idx[k]], lane[k%len(lane)])
		}
		var t [4]V
		for j := range t {
			t[j] = lane[j] + lane[j+4]
		}
		chunk = (t[0] + t[2]) + (t[1] + t[3])
		for k := whole; k < hi; k++ {
			chunk = fma(val[k], x[idx[k]], chunk)
		}
		s[c%len(s)] += chunk
	}
	if chunks <= 1 {
		return chunk
	}
	return (s[0] + s[1]) + (s[2] + s[3])
}

// exact rounds a*b + c once, from exact arithmetic.
func exact(a, b, c float32) float32 {
	f := func(v float32) *big.Float { return new(big.Float).SetPrec(2000).SetFloat64(float64(v)) }
	sum := f(a)
	sum.Mul(sum, f(b)).Add(sum, f(c))
	v, _ := sum.Float32()
	return v
}

func fixedShape[V sparse.Value](t *testing.T, fma func(a, b, c V) V) {
	r := rand.New(rand.NewPCG(3, 4))
	d, err := Open(Config{Threads: 1})
	require.NoError(t, err)
	defer d.Close()
	for _, n := range []int{0, 1, 2, 7, 8, 9, 15, 16, 17, 31, 1023, 1024, 1025, 1031, 2047, 2048, 4096, 4097, 5000, 70_000} {
		x, idx, val, y := make([]V, 100), make([]int32, n), make([]V, n), make([]V, 1)
		for i := range x {
			x[i] = V(r.NormFloat64())
		}
		for k := range idx {
			idx[k], val[k] = int32(r.IntN(len(x))), V(math.Ldexp(r.NormFloat64(), r.IntN(40)-20))
		}
		want := shape(fma, idx, val, x)
		a := compressed[V]{part: partition.Part{EndIdx: int64(n) - 1, OwnEnd: 1}, ptr: []int64{0, int64(n)}, idx: idx, val: val}
		a.multiplyFixed(0, 1, false, 1, 0, x, y)
		require.Equal(t, want, y[0], "%d entries", n)
		if n <= kernels.FixedChunk {
			simd.FixedRows(simd.Generic, 1, 0, a.ptr, idx, val, x, y)
			require.Equal(t, want, y[0], "%d entries without assembly", n)
		}
	}
}

func TestFixedSumsHaveTheShapeThatIsWrittenDown(t *testing.T) {
	fixedShape(t, math.FMA)
	fixedShape(t, exact)
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
		require.Equal(t, exact(a, b, c), simd.FMA(a, b, c), "%x*%x+%x", a, b, c)
	}
}

func TestRowsAreSharedOutWhole(t *testing.T) {
	ptr := []int64{10, 10, 13, 14, 30, 30, 31}
	for parts := 1; parts < 9; parts++ {
		require.Equal(t, 0, wholeRows(ptr, parts, 0))
		require.Equal(t, len(ptr)-1, wholeRows(ptr, parts, parts))
		for i := range parts {
			require.LessOrEqual(t, wholeRows(ptr, parts, i), wholeRows(ptr, parts, i+1))
		}
	}
}
