package number

import (
	"math"
	"math/bits"
)

// maxPow5 is the largest k for which 5^k fits into 63 bits.
const maxPow5 = 27

var (
	pow10  [9]uint64           // 10^k
	exact  [23]float64         // 10^k, all exact
	pow5   [maxPow5 + 1]uint64 // 5^k
	pow5up [maxPow5 + 1]uint64 // 5^k shifted up until its highest bit is set
	pow5sh [maxPow5 + 1]int    // number of bits shifted
)

func init() {
	p := uint64(1)
	for k := range pow10 {
		pow10[k] = p
		p *= 10
	}
	f := 1.0
	for k := range exact {
		exact[k] = f
		f *= 10
	}
	p = 1
	for k := range pow5 {
		pow5[k], pow5sh[k] = p, bits.LeadingZeros64(p)
		pow5up[k] = p << pow5sh[k]
		p *= 5
	}
}

// scale returns the float64 nearest to m * 10^e, ties to even. ok is false if e is too
// far from zero.
func scale(m uint64, e int) (v float64, ok bool) {
	if m < 1<<53 {
		// Both operands are exact, so IEEE arithmetic rounds only once (Clinger).
		switch {
		case e == 0:
			return float64(m), true
		case 0 < e && e < len(exact):
			return float64(m) * exact[e], true
		case -len(exact) < e && e < 0:
			return float64(m) / exact[-e], true
		case m == 0:
			return 0, true
		}
	}
	switch {
	case e < -maxPow5 || e > maxPow5:
		return 0, false
	case e < 0:
		return divide(m, -e), true
	}
	return multiply(m, e), true
}

// multiply returns m * 10^k, rounded: m * 5^k is exact in 128 bits.
func multiply(m uint64, k int) float64 {
	hi, lo := bits.Mul64(m, pow5[k])
	if hi == 0 {
		return round(lo, false, k)
	}
	s := bits.LeadingZeros64(hi)
	top := hi<<s | lo>>(64-s)
	return round(top, lo<<s != 0, 64-s+k)
}

// divide returns m / 10^k, rounded: it computes 63 or 64 bits of the quotient m / 5^k,
// and the remainder shows whether the quotient is exact.
func divide(m uint64, k int) float64 {
	s := bits.LeadingZeros64(m)
	m <<= s
	// m/2 * 2^64 over 5^k * 2^sh: the upper half is below the divisor, as Div64 requires.
	q, r := bits.Div64(m>>1, m<<63, pow5up[k])
	return round(q, r != 0, pow5sh[k]-s-63-k)
}

// round returns the float64 nearest to q * 2^e, ties to even, for q > 0. more says that
// the true value is above q by less than the last bit of q; q must then have at least 55
// bits. The result must be a normal number.
func round(q uint64, more bool, e int) float64 {
	s := bits.LeadingZeros64(q)
	q, e = q<<s, e-s
	const below = 1<<11 - 1 // mask of the bits that do not fit into a float64
	f, rest := q>>11, q&below
	const half = 1 << 10
	if rest > half || rest == half && (more || f&1 == 1) {
		f++ // may become 2^53; the addition below then increases the exponent
	}
	// f has its leading bit at 2^52, which adds one to the biased exponent.
	return math.Float64frombits(uint64(e+11+52+1022)<<52 + f)
}
