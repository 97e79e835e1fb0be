package formtest

import (
	"math"
	"math/rand/v2"

	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/sparse"
)

// AnyValues is a way to store values.
func AnyValues[V sparse.Value](t *rapid.T, val []V) form.ValueSet[V] {
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

// NearValue returns a value with one of 16 exponents, rarely another one.
func NearValue(r *rand.Rand) float64 {
	if r.IntN(400) == 0 {
		return []float64{
			0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN(), math.Float64frombits(0xFFF0_0000_DEAD_BEEF),
			math.SmallestNonzeroFloat64, -1e-310, math.MaxFloat64, 1e9, -1e-9,
		}[r.IntN(11)]
	}
	return math.Ldexp(1+r.Float64(), r.IntN(16)) * float64(1-2*r.IntN(2))
}

func Bits[V sparse.Value](v V) any {
	if v, ok := any(v).(float32); ok {
		return math.Float32bits(v)
	}
	return math.Float64bits(float64(v))
}
