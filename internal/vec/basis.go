package vec

// The loops over one or two vectors and the vectors v_j of a basis, four of these at a time. The
// bits are those of one v_j after the other. u and w are the elements from index at on of vectors
// of the length of v_j.

// Project adds v_j'u to us[j] and v_j'w to ws[j] for each v_j.
func Project(v [][]float64, at int, u, w []float64, us, ws []Sum) {
	u = u[:len(w)]
	n, j := grouped[float64](len(w)), 0
	if n > 0 {
		for ; j+4 <= len(v); j += 4 {
			x, s, t := four(v[j:], at, len(w)), us[j:j+4:j+4], ws[j:j+4:j+4]
			dotFourTwoF64(level, n/8, &x[0][0], &x[1][0], &x[2][0], &x[3][0], &u[0], &w[0],
				(*[8]float64)(&s[0]), (*[8]float64)(&s[1]), (*[8]float64)(&s[2]), (*[8]float64)(&s[3]),
				(*[8]float64)(&t[0]), (*[8]float64)(&t[1]), (*[8]float64)(&t[2]), (*[8]float64)(&t[3]))
			for k, x := range x {
				addDotGeneric(x[n:], u[n:], &s[k])
				addDotGeneric(x[n:], w[n:], &t[k])
			}
		}
	}
	for ; j < len(v); j++ {
		x := v[j][at : at+len(w)]
		AddDot(x, u, &us[j])
		AddDot(x, w, &ws[j])
	}
}

// SubtractProjection computes, with the subtractions in this order,
//
//	u = u - g[0]*v_0 - g[1]*v_1 - ...
//	w = w - h[0]*v_0 - h[1]*v_1 - ...
//
// scratch is overwritten; its value is undefined.
func SubtractProjection(g, h []float64, v [][]float64, at int, u, w []float64, scratch *Sum) {
	u = u[:len(w)]
	n, j := grouped[float64](len(w)), 0
	if n > 0 {
		for ; j+4 <= len(v); j += 4 {
			x, a, b := four(v[j:], at, len(w)), g[j:j+4:j+4], h[j:j+4:j+4]
			axpyFourTwoF64(level, n/8, -a[0], -a[1], -a[2], -a[3], -b[0], -b[1], -b[2], -b[3],
				&x[0][0], &x[1][0], &x[2][0], &x[3][0], &u[0], &w[0])
			for k, x := range x {
				addAxpyGeneric(-a[k], x[n:], u[n:], scratch)
				addAxpyGeneric(-b[k], x[n:], w[n:], scratch)
			}
		}
	}
	for ; j < len(v); j++ {
		x := v[j][at : at+len(w)]
		AddAxpy(-g[j], x, u, scratch)
		AddAxpy(-h[j], x, w, scratch)
	}
}

// Combine computes, with the additions in this order,
//
//	w = w + a*h[0]*v_0 + a*h[1]*v_1 + ...
//
// scratch is overwritten; its value is undefined.
func Combine(a float64, h []float64, v [][]float64, at int, w []float64, scratch *Sum) {
	n, j := grouped[float64](len(w)), 0
	if n > 0 {
		for ; j+4 <= len(v); j += 4 {
			x := four(v[j:], at, len(w))
			b := [4]float64{a * h[j], a * h[j+1], a * h[j+2], a * h[j+3]}
			axpyFourF64(level, n/8, b[0], b[1], b[2], b[3], &x[0][0], &x[1][0], &x[2][0], &x[3][0], &w[0])
			for k, x := range x {
				addAxpyGeneric(b[k], x[n:], w[n:], scratch)
			}
		}
	}
	for ; j < len(v); j++ {
		AddAxpy(a*h[j], v[j][at:at+len(w)], w, scratch)
	}
}

// four returns the n elements from index at on of each of the first four vectors.
func four(v [][]float64, at, n int) [4][]float64 {
	return [4][]float64{v[0][at : at+n], v[1][at : at+n], v[2][at : at+n], v[3][at : at+n]}
}
