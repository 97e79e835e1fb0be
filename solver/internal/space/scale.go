package space

import (
	"math"
	"slices"
)

// safeExp is the bound of the binary exponent of numbers whose squares neither overflow nor underflow.
const safeExp = 200

// Rescale divides b and x by 2^exp where squares of elements of b might overflow or underflow. largest is the largest
// magnitude in b. The caller multiplies the solution x by 2^exp at the end.
func Rescale(largest float64, b, x []float64) (scaled []float64, exp int) {
	if exp = Exponent(largest); exp == 0 {
		return b, 0
	}
	scaled = slices.Clone(b)
	ScaleBy(scaled, -exp)
	ScaleBy(x, -exp)
	if !Finite(LargestOf(x)) { // the scaled first guess overflows: start from 0
		clear(x)
	}
	return scaled, exp
}

// Exponent returns the binary exponent of largest, or 0 where its square neither overflows nor underflows.
func Exponent(largest float64) int {
	_, exp := math.Frexp(largest)
	if largest == 0 || -safeExp < exp && exp < safeExp {
		return 0
	}
	return exp
}

// ScaleBy computes v = 2^exp * v.
func ScaleBy(v []float64, exp int) {
	if exp == 0 {
		return
	}
	for i, e := range v {
		v[i] = math.Ldexp(e, exp)
	}
}

// roundAt rounds v to the values whose products by 2^exp are float64 values: it applies overflow and underflow of
// 2^exp * v to v.
func roundAt(v []float64, exp int) {
	ScaleBy(v, exp)
	ScaleBy(v, -exp)
}

// LargestOf returns the largest magnitude in v, or NaN where v has one.
func LargestOf(v []float64) float64 {
	largest := uint64(0) // magnitudes have the order of their bits
	for _, e := range v {
		largest = max(largest, math.Float64bits(e)&^(1<<63))
	}
	return math.Float64frombits(largest)
}

func Finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
