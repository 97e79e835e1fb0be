package simd

import "github.com/msrep-go/msrep/internal/vec"

// The loops of solvers over vectors, with the bits of package vec on all levels. All vectors of a
// call have the same length and do not overlap, unless stated otherwise. The caller allocates sums,
// because arguments of kernels in tables escape to the heap.

// AddDot computes s += x'y.
func AddDot(l Level, x, y []float64, s *vec.Sum) {
	y = y[:len(x)]
	n := grouped(l, len(x))
	if n > 0 {
		vectorKernels[l-AVX2].dot(n/8, &x[0], &y[0], (*[8]float64)(s))
	}
	vec.AddDot(x[n:], y[n:], s)
}

// AddDots computes xy += x'y and xx += x'x.
func AddDots(l Level, x, y []float64, xy, xx *vec.Sum) {
	y = y[:len(x)]
	n := grouped(l, len(x))
	if n > 0 {
		vectorKernels[l-AVX2].dots(n/8, &x[0], &y[0], (*[8]float64)(xy), (*[8]float64)(xx))
	}
	vec.AddDots(x[n:], y[n:], xy, xx)
}

// AddAxpy computes y = y + a*x and s += y'y.
func AddAxpy(l Level, a float64, x, y []float64, s *vec.Sum) {
	y = y[:len(x)]
	n := grouped(l, len(x))
	if n > 0 {
		vectorKernels[l-AVX2].axpy(n/8, a, &x[0], &y[0], (*[8]float64)(s))
	}
	vec.AddAxpy(a, x[n:], y[n:], s)
}

// AddAxpyScaled computes y = y + a*x, s += y'y and scaled += y'(d*y); d*y is element by element.
func AddAxpyScaled(l Level, a float64, x, y, d []float64, s, scaled *vec.Sum) {
	y, d = y[:len(x)], d[:len(x)]
	n := grouped(l, len(x))
	if n > 0 {
		vectorKernels[l-AVX2].axpyScaled(n/8, a, &x[0], &y[0], &d[0], (*[8]float64)(s), (*[8]float64)(scaled))
	}
	vec.AddAxpyScaled(a, x[n:], y[n:], d[n:], s, scaled)
}

// UpdateDirection computes x = x + a*p, then p = z + b*p.
func UpdateDirection(l Level, a, b float64, z, p, x []float64) {
	p, x = p[:len(z)], x[:len(z)]
	n := grouped(l, len(z))
	if n > 0 {
		vectorKernels[l-AVX2].move(n/8, a, b, &z[0], &p[0], &x[0])
	}
	vec.UpdateDirection(a, b, z[n:], p[n:], x[n:])
}

// UpdateDirectionScaled computes x = x + a*p, then p = d*r + b*p; d*r is element by element.
func UpdateDirectionScaled(l Level, a, b float64, d, r, p, x []float64) {
	r, p, x = r[:len(d)], p[:len(d)], x[:len(d)]
	n := grouped(l, len(d))
	if n > 0 {
		vectorKernels[l-AVX2].moveScaled(n/8, a, b, &d[0], &r[0], &p[0], &x[0])
	}
	vec.UpdateDirectionScaled(a, b, d[n:], r[n:], p[n:], x[n:])
}

// BiCGSTABDirection computes p = r + b*(p - w*v).
func BiCGSTABDirection(l Level, r []float64, b, w float64, v, p []float64) {
	v, p = v[:len(r)], p[:len(r)]
	n := grouped(l, len(r))
	if n > 0 {
		vectorKernels[l-AVX2].bicgstabDirection(n/8, b, w, &r[0], &v[0], &p[0])
	}
	vec.BiCGSTABDirection(r[n:], b, w, v[n:], p[n:])
}

// AddBiCGSTABStep computes x = x + (a*p + w*s), r = r - w*t, rr += r'r and cr += c'r. s may be r.
func AddBiCGSTABStep(l Level, a float64, p []float64, w float64, s, x, t, r, c []float64, rr, cr *vec.Sum) {
	k := len(p)
	s, x, t, r, c = s[:k], x[:k], t[:k], r[:k], c[:k]
	n := grouped(l, k)
	if n > 0 {
		vectorKernels[l-AVX2].bicgstabStep(n/8, a, w, &p[0], &s[0], &x[0], &t[0], &r[0], &c[0], (*[8]float64)(rr), (*[8]float64)(cr))
	}
	vec.AddBiCGSTABStep(a, p[n:], w, s[n:], x[n:], t[n:], r[n:], c[n:], rr, cr)
}

// grouped returns how many elements assembly computes: whole groups of 8, the number of parts of a
// sum.
func grouped(l Level, elements int) int {
	if l == Generic {
		return 0
	}
	return elements &^ 7
}

// vectorTable has the kernels of one Level, for n > 0 groups of 8 elements.
type vectorTable struct {
	dot               func(n int, x, y *float64, sums *[8]float64)
	dots              func(n int, x, y *float64, sums, squares *[8]float64)
	axpy              func(n int, a float64, x, y *float64, sums *[8]float64)
	axpyScaled        func(n int, a float64, x, y, d *float64, sums, scaled *[8]float64)
	move              func(n int, a, b float64, z, p, x *float64)
	moveScaled        func(n int, a, b float64, d, r, p, x *float64)
	bicgstabDirection func(n int, b, w float64, r, v, p *float64)
	bicgstabStep      func(n int, a, w float64, p, s, x, t, r, c *float64, sums, shadows *[8]float64)
	axpyFour          func(n int, a0, a1, a2, a3 float64, x0, x1, x2, x3, y *float64)

	dotFourTwo  func(n int, x0, x1, x2, x3, y, z *float64, s0, s1, s2, s3, t0, t1, t2, t3 *[8]float64)
	axpyFourTwo func(n int, a0, a1, a2, a3, b0, b1, b2, b3 float64, x0, x1, x2, x3, y, z *float64)

	// n rows of parts elements, a multiple of 16; scaleMany: n rows of m
	dotMany   func(n, parts int, x, y, sums *float64)
	axpyMany  func(n, parts int, a, x, y, sums *float64)
	moveMany  func(n, parts int, a, b, z, p, x *float64)
	scaleMany func(n, m int, d, r, z *float64)
}
