package cpms

import "math"

// Rounding says how a value is rounded to the segments that are written.
type Rounding bool

// The kinds of rounding.
const (
	Truncate Rounding = false // toward zero, as in the paper
	Nearest  Rounding = true  // to nearest, ties to even; a finite value stays finite
)

const (
	expMask  = 0x7ff << 52
	quietBit = 1 << 51
)

// Keep returns v rounded to its first bits, 12 < bits <= 64: the value that is read back
// after v was written with that number of bits. A NaN stays a NaN.
func Keep(v float64, bits int, r Rounding) float64 {
	return math.Float64frombits(keep(math.Float64bits(v), bits, r))
}

func keep(u uint64, bits int, r Rounding) uint64 {
	low := uint64(1)<<(64-bits) - 1
	if u&expMask == expMask {
		if head := u &^ low; u<<12 == 0 || head<<12 != 0 {
			return head
		}
		return u&^low | quietBit // a NaN whose mantissa bits all lie in the part cut off
	}
	if r == Nearest && low != 0 {
		half := low >> 1
		if up := u + half + u>>(64-bits)&1; up&expMask != expMask {
			u = up
		}
	}
	return u &^ low
}
