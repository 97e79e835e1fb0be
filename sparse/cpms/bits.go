package cpms

import "math"

// Rounding says what becomes of the bits that are not written.
type Rounding bool

// The ways to round.
const (
	Truncate Rounding = false // towards zero, as in the paper
	Nearest  Rounding = true  // to nearest, ties to even; never up to infinity
)

const (
	expMask  = 0x7ff << 52
	quietBit = 1 << 51
)

// Keep gives v with its first bits only, 12 < bits <= 64: what reading back
// gives after v was written with so many bits. A NaN stays one.
func Keep(v float64, bits int, r Rounding) float64 {
	return math.Float64frombits(keep(math.Float64bits(v), bits, r))
}

func keep(u uint64, bits int, r Rounding) uint64 {
	low := uint64(1)<<(64-bits) - 1
	if u&expMask == expMask {
		if head := u &^ low; u<<12 == 0 || head<<12 != 0 {
			return head
		}
		return u&^low | quietBit // a NaN whose bits all lie below
	}
	if r == Nearest && low != 0 {
		half := low >> 1
		if up := u + half + u>>(64-bits)&1; up&expMask != expMask {
			u = up
		}
	}
	return u &^ low
}
