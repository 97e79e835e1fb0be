package simd

import (
	"math"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/sparse"
)

// Factors says how a transposed product takes alpha: it adds after * (val * (before*x[r])),
// where one of before and after is 1 and the other one alpha. To take alpha before is faster,
// but where before*x[r] underflows or overflows it loses the digits that alpha*(val*x[r]),
// which straight products compute, may keep: then alpha comes after.
func Factors[V sparse.Value](l Level, alpha V, x []V) (before, after V) {
	if alpha == 1 || alpha == -1 {
		return alpha, 1
	}
	a := math.Abs(float64(alpha))
	if mem.Size[V]() == 8 { // half the greatest number, for the quotient is rounded
		if lost(l, x, V(0x1p-1022/a), V(math.MaxFloat64/2/a)) {
			return 1, alpha
		}
	} else if lost(l, x, V(0x1p-126/a), V(math.MaxFloat32/2/a)) {
		return 1, alpha
	}
	return alpha, 1
}

// Finite reports whether all elements of x are finite.
func Finite[V sparse.Value](l Level, x []V) bool {
	greatest := math.MaxFloat64
	if mem.Size[V]() == 4 {
		greatest = math.MaxFloat32
	}
	return !lost(l, x, 0, V(greatest))
}

// lost reports whether any element of x but zeros is not least <= |x[i]| <= greatest.
func lost[V sparse.Value](l Level, x []V, least, greatest V) bool {
	whole := 0
	if l != Generic {
		lanes := Lanes[V](l)
		whole = len(x) / lanes * lanes
		if whole > 0 && of[*lostTable[V]](lostTables)[l-AVX2](whole/lanes, &x[0], least, greatest) != 0 {
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

// lostTable is kernels by Level-AVX2, for n registers of x.
type lostTable[V sparse.Value] [2]func(n int, x *V, least, greatest V) uint32
