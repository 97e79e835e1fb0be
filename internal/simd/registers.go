package simd

import "github.com/msrep-go/msrep/sparse"

// Lanes returns the number of rows of a slice. With AVX2 and AVX512 it is the number of elements of
// a register. NEON has as many lanes as plain Go, in several registers: loops for which there is no
// NEON then run in plain Go on the same slices.
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

// RegisterBytes returns the size of a register. With NEON it is that of the two registers that an
// instruction loads.
func RegisterBytes(l Level) int {
	if l >= AVX512 {
		return 64
	}
	return 32
}
