package simd

import "github.com/msrep-go/msrep/sparse"

// Lanes returns the number of elements of a register, which is the number of rows of a slice.
func Lanes[V sparse.Value](l Level) int {
	n := 16
	if _, double := any(*new(V)).(float64); double {
		n = 8
	}
	if l == AVX2 {
		n /= 2
	}
	return n
}

// RegisterBytes returns the size of a register.
func RegisterBytes(l Level) int {
	if l >= AVX512 {
		return 64
	}
	return 32
}
