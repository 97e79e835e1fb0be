package form

import "github.com/msrep-go/msrep/internal/simd"

// MinMax returns the least and the greatest of idx, which must not be empty.
func MinMax(l simd.Level, idx []int32) (lo, hi int32) {
	if l != simd.Generic && len(idx) >= 8 {
		return minMaxKernel(idx)
	}
	return minMaxGeneric(idx)
}

func minMaxGeneric(idx []int32) (lo, hi int32) {
	lo, hi = idx[0], idx[0]
	for _, i := range idx {
		lo, hi = min(lo, i), max(hi, i)
	}
	return lo, hi
}
