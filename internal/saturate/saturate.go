// Package saturate adds and multiplies sizes with results limited to the largest int64.
package saturate

import (
	"math"
	"math/bits"
)

// Mul returns a*b for a, b >= 0, or 2^63-1 if that is smaller.
func Mul(a, b int64) int64 {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	if hi != 0 || lo > math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(lo)
}

// Add returns a+b for a, b >= 0, or 2^63-1 if that is smaller.
func Add(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}
