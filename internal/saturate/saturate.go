// Package saturate has sums and products of sizes that end at the largest int64 instead
// of going beyond it.
package saturate

import (
	"math"
	"math/bits"
)

// Mul is a*b for a, b >= 0, at most 2^63-1.
func Mul(a, b int64) int64 {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	if hi != 0 || lo > math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(lo)
}

// Add is a+b for a, b >= 0, at most 2^63-1.
func Add(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}
