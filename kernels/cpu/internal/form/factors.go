package form

import (
	"math"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/sparse"
)

// Factors returns the two factors of a transposed product, which adds after * (val *
// (before*x[r])). One of them is 1, the other one alpha. before = alpha is faster. But before*x[r]
// may underflow or overflow, and then loses digits that alpha*(val*x[r]) keeps, as products without
// transpose compute it: after is alpha in this case.
func Factors[V sparse.Value](l simd.Level, alpha V, x []V) (before, after V) {
	if alpha == 1 || alpha == -1 {
		return alpha, 1
	}
	a := math.Abs(float64(alpha))
	if mem.Size[V]() == 8 { // half the greatest number, because the quotient is rounded
		if outOfRange(l, x, V(0x1p-1022/a), V(math.MaxFloat64/2/a)) {
			return 1, alpha
		}
	} else if outOfRange(l, x, V(0x1p-126/a), V(math.MaxFloat32/2/a)) {
		return 1, alpha
	}
	return alpha, 1
}

// outOfRange reports whether an element of x that is not 0 violates least <= |x[i]| <= greatest.
func outOfRange[V sparse.Value](l simd.Level, x []V, least, greatest V) bool {
	whole := 0
	if l >= simd.AVX2 {
		lanes := simd.Lanes[V](l)
		whole = len(x) / lanes * lanes
		if whole > 0 && simd.ForType[*outOfRangeTable[V]](outOfRangeTables)[l-simd.AVX2](whole/lanes, &x[0], least, greatest) != 0 {
			return true
		}
	}
	for _, v := range x[whole:] {
		if v = max(v, -v); v != 0 && !(v >= least && v <= greatest) {
			return true
		}
	}
	return false
}

// outOfRangeTable has kernels by Level-AVX2, for n registers of x.
type outOfRangeTable[V sparse.Value] [2]func(n int, x *V, least, greatest V) uint32
