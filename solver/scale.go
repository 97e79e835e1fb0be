package solver

import (
	"math"
	"slices"
)

// safeExp bounds the binary exponent of numbers whose squares are far from the ends
// of the range of float64.
const safeExp = 200

// rescale divides b and x by a power of two where squares of the elements of b,
// of which largest is the largest, would leave the range of float64: 2^exp, which x is
// to be multiplied by at the end.
func rescale(largest float64, b, x []float64) (scaled []float64, exp int) {
	if exp = exponent(largest); exp == 0 {
		return b, 0
	}
	scaled = slices.Clone(b)
	scaleBy(scaled, -exp)
	scaleBy(x, -exp)
	if !finite(largestOf(x)) { // too far from the solution to be told in these units
		clear(x)
	}
	return scaled, exp
}

// exponent is the power of two that a number is divided by, or 0 where its square is
// far from the ends of the range.
func exponent(largest float64) int {
	_, exp := math.Frexp(largest)
	if largest == 0 || -safeExp < exp && exp < safeExp {
		return 0
	}
	return exp
}

// scaleBy is v = 2^exp * v.
func scaleBy(v []float64, exp int) {
	if exp == 0 {
		return
	}
	for i, e := range v {
		v[i] = math.Ldexp(e, exp)
	}
}

// roundAt leaves of v, which is divided by 2^exp, what a float64 can hold of 2^exp * v.
func roundAt(v []float64, exp int) {
	scaleBy(v, exp)
	scaleBy(v, -exp)
}

func largestOf(v []float64) (largest float64) {
	for _, e := range v {
		largest = max(largest, math.Abs(e))
	}
	return largest
}
