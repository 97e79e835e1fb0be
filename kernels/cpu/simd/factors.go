package simd

import (
	"math"
	"math/bits"

	"github.com/msrep-go/msrep/sparse"
)

// Factors says how a transposed product takes alpha: it adds after * (val * (before*x[r])),
// where one of before and after is 1 and the other one alpha. To take alpha before is faster,
// but where before*x[r] underflows or overflows it loses the digits that alpha*(val*x[r]),
// which straight products compute, may keep: then alpha comes after.
func Factors[V sparse.Value](alpha V, x []V) (before, after V) {
	if alpha == 1 || alpha == -1 || keepsDigits(alpha, x) {
		return alpha, 1
	}
	return 1, alpha
}

// keepsDigits reports whether alpha*x[i] is a normal number for all i where x[i] is one that
// is finite and not 0.
func keepsDigits[V sparse.Value](alpha V, x []V) bool {
	a := math.Abs(float64(alpha))
	lost := uint64(0)
	switch x := any(x).(type) {
	case []float64:
		// Half the greatest number, since the quotient is rounded.
		least, greatest := math.Float64bits(0x1p-1022/a), math.Float64bits(math.MaxFloat64/2/a)
		for _, v := range x {
			lost |= outside(math.Float64bits(v)&^(1<<63), least, greatest, math.Float64bits(math.Inf(1)))
		}
	case []float32:
		least, greatest := math.Float32bits(float32(0x1p-126/a)), math.Float32bits(float32(math.MaxFloat32/2/a))
		for _, v := range x {
			lost |= outside(uint64(math.Float32bits(v)&^(1<<31)), uint64(least), uint64(greatest), uint64(math.Float32bits(float32(math.Inf(1)))))
		}
	}
	return lost == 0
}

// outside is 1 where 0 < u < infinite, and not least <= u <= greatest, and otherwise 0: x has
// zeros anywhere, so to compute it is faster than to branch.
func outside(u, least, greatest, infinite uint64) uint64 {
	_, finite := bits.Sub64(u-1, infinite-1, 0)
	_, below := bits.Sub64(u, least, 0)
	_, above := bits.Sub64(greatest, u, 0)
	return finite & (below | above)
}
