package vec

import "math"

// The loops over vectors q_j of 32-bit integers, four of these at a time. The q_j have elements for a whole vector; u and w
// are the elements from index at on. Integers are converted to float64, and all arithmetic is in float64.
//
// The last group of fewer than four q_j has its last q_j several times, with coefficients 0 and sums that are not used.

// ProjectInts adds q_j'u to us[j] and q_j'w to ws[j] for each q_j.
func ProjectInts(q [][]int32, at int, u, w []float64, us, ws []Sum) {
	u = u[:len(w)]
	n := grouped[float64](len(w))
	var unused Sum
	for j := 0; j < len(q); j += 4 {
		x := fourInts(q, j, at, len(w))
		var s, t [4]*Sum
		for k := range s {
			s[k], t[k] = &unused, &unused
			if j+k < len(q) {
				s[k], t[k] = &us[j+k], &ws[j+k]
			}
		}
		if n > 0 {
			dotFourTwoIntsF64(level, n/8, &x[0][0], &x[1][0], &x[2][0], &x[3][0], &u[0], &w[0],
				(*[8]float64)(s[0]), (*[8]float64)(s[1]), (*[8]float64)(s[2]), (*[8]float64)(s[3]),
				(*[8]float64)(t[0]), (*[8]float64)(t[1]), (*[8]float64)(t[2]), (*[8]float64)(t[3]))
		}
		for k := range min(4, len(q)-j) {
			addDotInts(x[k][n:], u[n:], s[k])
			addDotInts(x[k][n:], w[n:], t[k])
		}
	}
}

// CombineInts computes, with the additions in this order,
//
//	w = w + h[0]*q_0 + h[1]*q_1 + ...
func CombineInts(h []float64, q [][]int32, at int, w []float64) {
	n := grouped[float64](len(w))
	for j := 0; j < len(q); j += 4 {
		x := fourInts(q, j, at, len(w))
		var a [4]float64
		copy(a[:], h[j:len(q)])
		if n > 0 {
			axpyFourIntsF64(level, n/8, a[0], a[1], a[2], a[3], &x[0][0], &x[1][0], &x[2][0], &x[3][0], &w[0])
		}
		for k := range min(4, len(q)-j) {
			addInts(a[k], x[k][n:], w[n:])
		}
	}
}

// fourInts returns the n elements from index at on of q[j] to q[j+3], and of the last vector in place of those after it.
func fourInts(q [][]int32, j, at, n int) (x [4][]int32) {
	for k := range x {
		x[k] = q[min(j+k, len(q)-1)][at : at+n]
	}
	return x
}

// addDotInts adds q'y to s.
func addDotInts(q []int32, y []float64, s *Sum) {
	y = y[:len(q)]
	i := 0
	for ; i+8 <= len(q); i += 8 {
		a, b := q[i:i+8:i+8], y[i:i+8:i+8]
		for k := range 8 {
			s[k] += wide(float64(a[k]), b[k])
		}
	}
	for ; i < len(q); i++ {
		s[i&7] += wide(float64(q[i]), y[i])
	}
}

// addInts computes y = y + a*q.
func addInts(a float64, q []int32, y []float64) {
	y = y[:len(q)]
	for i, e := range q {
		y[i] += mul(a, float64(e))
	}
}

// leastExponent bounds the exponents of RoundToInts, so that powers of two neither overflow nor underflow.
const leastExponent = -960

// RoundToInts rounds v to multiples of a power of two, the step, with magnitudes of at most 2^30 steps, and stores the
// multiples in q: v[i] = q[i]*step. The step is less than 2^-29 times the largest magnitude in v, unless that is below
// 2^-960. If an element is not finite, q and the step are 0, and v stays as it is.
func RoundToInts(v []float64, q []int32) (step float64) {
	const shift = 1.5 * (1 << 52) // the last bits of shift + i are those of integer i
	q = q[:len(v)]
	largest := largestMagnitude(v)
	if math.IsNaN(largest) || math.IsInf(largest, 0) {
		clear(q)
		return 0
	}
	_, exp := math.Frexp(largest)
	exp = max(exp, leastExponent)
	step = math.Ldexp(1, exp-30)
	inverse := math.Ldexp(1, 30-exp)
	for i, e := range v {
		t := mul(e, inverse) + shift
		q[i] = int32(math.Float64bits(t))
		v[i] = (t - shift) * step
	}
	return step
}

// largestMagnitude returns the largest |v[i]|; infinity or NaN where an element is not finite.
func largestMagnitude(v []float64) float64 {
	var a, b, c, d uint64 // bits without signs: their order is that of magnitudes
	i := 0
	for ; i+4 <= len(v); i += 4 {
		e := v[i : i+4 : i+4]
		a = max(a, math.Float64bits(e[0])<<1)
		b = max(b, math.Float64bits(e[1])<<1)
		c = max(c, math.Float64bits(e[2])<<1)
		d = max(d, math.Float64bits(e[3])<<1)
	}
	for ; i < len(v); i++ {
		a = max(a, math.Float64bits(v[i])<<1)
	}
	return math.Float64frombits(max(max(a, b), max(c, d)) >> 1)
}
