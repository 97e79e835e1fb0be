package simd

import "github.com/msrep-go/msrep/internal/vec"

// The loops over a vector and those of a basis, four of these at a time, with the bits of one
// after the other. w is the elements from at on of a vector as long as those of the basis.

// Project adds v_j'w to sums[j] for each v_j.
func Project(l Level, v [][]float64, at int, w []float64, sums []vec.Sum) {
	n, j := grouped(l, len(w)), 0
	if n > 0 {
		for ; j+4 <= len(v); j += 4 {
			x0, x1, x2, x3 := four(v[j:], at, len(w))
			s := sums[j : j+4 : j+4]
			vectorKernels[l-AVX2].dotFour(n/8, &x0[0], &x1[0], &x2[0], &x3[0], &w[0],
				(*[8]float64)(&s[0]), (*[8]float64)(&s[1]), (*[8]float64)(&s[2]), (*[8]float64)(&s[3]))
			vec.AddDot(x0[n:], w[n:], &s[0])
			vec.AddDot(x1[n:], w[n:], &s[1])
			vec.AddDot(x2[n:], w[n:], &s[2])
			vec.AddDot(x3[n:], w[n:], &s[3])
		}
	}
	for ; j < len(v); j++ {
		AddDot(l, v[j][at:at+len(w)], w, &sums[j])
	}
}

// Combine is w = w + a*h[0]*v_0 + a*h[1]*v_1 + ..., added in this order.
func Combine(l Level, a float64, h []float64, v [][]float64, at int, w []float64) {
	n, j := grouped(l, len(w)), 0
	if n > 0 {
		for ; j+4 <= len(v); j += 4 {
			x0, x1, x2, x3 := four(v[j:], at, len(w))
			a0, a1, a2, a3 := a*h[j], a*h[j+1], a*h[j+2], a*h[j+3]
			vectorKernels[l-AVX2].axpyFour(n/8, a0, a1, a2, a3, &x0[0], &x1[0], &x2[0], &x3[0], &w[0])
			vec.Axpy(a0, x0[n:], w[n:])
			vec.Axpy(a1, x1[n:], w[n:])
			vec.Axpy(a2, x2[n:], w[n:])
			vec.Axpy(a3, x3[n:], w[n:])
		}
	}
	for ; j < len(v); j++ {
		Axpy(l, a*h[j], v[j][at:at+len(w)], w)
	}
}

// four is n elements from at on of each of the first four vectors.
func four(v [][]float64, at, n int) (x0, x1, x2, x3 []float64) {
	return v[0][at : at+n], v[1][at : at+n], v[2][at : at+n], v[3][at : at+n]
}
