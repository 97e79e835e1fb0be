// Package vec has the loops over vectors of the iterative solvers. A call runs in one goroutine, on a chunk of
// the vectors that fits in a cache. All slices of a call have the same length. Operations on the same vectors
// are fused into one loop.
//
// Sums are in float64 and consist of several partial sums (see Sum), which SIMD registers and independent
// additions can use. Every product is rounded before it is added, so that all processors give the same bits,
// with fused multiply-add or without. Some loops are in assembly as well (loops.go), with the same bits.
package vec

import "github.com/msrep-go/msrep/sparse"

// mul returns a*b, rounded. The conversion prevents the compiler from fusing the product with an addition.
func mul[V sparse.Value](a, b V) V { return V(a * b) }

// wide returns a*b in float64, rounded.
func wide[V sparse.Value](a, b V) float64 { return float64(float64(a) * float64(b)) }

// ScaleTo computes dst = a*src.
func ScaleTo[V sparse.Value](a V, src, dst []V) {
	dst = dst[:len(src)]
	for i, v := range src {
		dst[i] = a * v
	}
}

// Misfit returns |y - a*x|^2.
func Misfit[V sparse.Value](y []V, a V, x []V) float64 {
	y = y[:len(x)]
	var s0, s1 float64
	for i, v := range x {
		d := y[i] - mul(a, v)
		s0, s1 = s1+wide(d, d), s0
	}
	return s0 + s1
}

// Sum is eight partial sums: element i of the vectors is added to partial sum i%8.
type Sum [8]float64

// Total returns the sum of the partial sums.
func (s *Sum) Total() float64 {
	return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]))
}

// Dot returns x'y.
func Dot[V sparse.Value](x, y []V) float64 {
	var s Sum
	AddDot(x, y, &s)
	return s.Total()
}

// addDotGeneric adds x'y to s.
func addDotGeneric[V sparse.Value](x, y []V, s *Sum) {
	y = y[:len(x)]
	s0, s1, s2, s3, s4, s5, s6, s7 := s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7]
	i := 0
	for ; i+8 <= len(x); i += 8 {
		a, b := x[i:i+8:i+8], y[i:i+8:i+8]
		s0 += wide(a[0], b[0])
		s1 += wide(a[1], b[1])
		s2 += wide(a[2], b[2])
		s3 += wide(a[3], b[3])
		s4 += wide(a[4], b[4])
		s5 += wide(a[5], b[5])
		s6 += wide(a[6], b[6])
		s7 += wide(a[7], b[7])
	}
	*s = Sum{s0, s1, s2, s3, s4, s5, s6, s7}
	for ; i < len(x); i++ {
		s[i&7] += wide(x[i], y[i])
	}
}

// addDotsGeneric adds x'y to xy and x'x to xx.
func addDotsGeneric[V sparse.Value](x, y []V, xy, xx *Sum) {
	y = y[:len(x)]
	for i, v := range x {
		xy[i&7] += wide(v, y[i])
		xx[i&7] += wide(v, v)
	}
}

// Axpy computes y = y + a*x and returns y'y.
func Axpy[V sparse.Value](a V, x, y []V) float64 {
	var s Sum
	AddAxpy(a, x, y, &s)
	return s.Total()
}

// addAxpyGeneric computes y = y + a*x and adds y'y to s.
func addAxpyGeneric[V sparse.Value](a V, x, y []V, s *Sum) {
	y = y[:len(x)]
	i := 0
	for ; i+8 <= len(x); i += 8 {
		u, v := x[i:i+8:i+8], y[i:i+8:i+8]
		for j := 0; j < 8; j += 4 {
			e0, e1, e2, e3 := v[j]+mul(a, u[j]), v[j+1]+mul(a, u[j+1]), v[j+2]+mul(a, u[j+2]), v[j+3]+mul(a, u[j+3])
			v[j], v[j+1], v[j+2], v[j+3] = e0, e1, e2, e3
			s[j] += wide(e0, e0)
			s[j+1] += wide(e1, e1)
			s[j+2] += wide(e2, e2)
			s[j+3] += wide(e3, e3)
		}
	}
	for ; i < len(x); i++ {
		e := y[i] + mul(a, x[i])
		y[i] = e
		s[i&7] += wide(e, e)
	}
}

// addAxpyScaledGeneric computes y = y + a*x and adds y'y to s and y'(d*y) to scaled, with d*y element by element.
func addAxpyScaledGeneric[V sparse.Value](a V, x, y, d []V, s, scaled *Sum) {
	y, d = y[:len(x)], d[:len(x)]
	for i, v := range x {
		e := y[i] + mul(a, v)
		y[i] = e
		s[i&7] += wide(e, e)
		scaled[i&7] += wide(mul(d[i], e), e)
	}
}

// updateDirectionGeneric computes x = x + a*p and p = z + b*p, both with the old p.
func updateDirectionGeneric[V sparse.Value](a, b V, z, p, x []V) {
	p, x = p[:len(z)], x[:len(z)]
	for i, v := range z {
		old := p[i]
		x[i] += mul(a, old)
		p[i] = v + mul(b, old)
	}
}

// updateDirectionScaledGeneric is UpdateDirection with z = d*r, element by element.
func updateDirectionScaledGeneric[V sparse.Value](a, b V, d, r, p, x []V) {
	r, p, x = r[:len(d)], p[:len(d)], x[:len(d)]
	for i, v := range d {
		old := p[i]
		x[i] += mul(a, old)
		p[i] = mul(v, r[i]) + mul(b, old)
	}
}

// Xpby computes y = x + b*y.
func Xpby[V sparse.Value](x []V, b V, y []V) {
	y = y[:len(x)]
	for i := range x {
		y[i] = x[i] + mul(b, y[i])
	}
}

// Axpby computes y = a*x + b*y. b = 0 does not read y.
func Axpby[V sparse.Value](a V, x []V, b V, y []V) {
	switch {
	case b == 0:
		ScaleTo(a, x, y)
		return
	case a == 1:
		Xpby(x, b, y)
		return
	}
	y = y[:len(x)]
	for i, v := range x {
		y[i] = mul(a, v) + mul(b, y[i])
	}
}

// Multiply computes z = d*r, element by element.
func Multiply[V sparse.Value](d, r, z []V) {
	d, r = d[:len(z)], r[:len(z)]
	for i := range z {
		z[i] = d[i] * r[i]
	}
}

// CGStep computes x = x + a*p and r = r - a*q and returns r'r.
func CGStep[V sparse.Value](a V, p, q, x, r []V) float64 {
	q, x, r = q[:len(p)], x[:len(p)], r[:len(p)]
	var s0, s1 float64
	i := 0
	for ; i+2 <= len(p); i += 2 {
		pi, qi, xi, ri := p[i:i+2:i+2], q[i:i+2:i+2], x[i:i+2:i+2], r[i:i+2:i+2]
		e0, e1 := ri[0]-mul(a, qi[0]), ri[1]-mul(a, qi[1])
		xi[0] += mul(a, pi[0])
		xi[1] += mul(a, pi[1])
		ri[0], ri[1] = e0, e1
		s0 += wide(e0, e0)
		s1 += wide(e1, e1)
	}
	if i < len(p) {
		x[i] += mul(a, p[i])
		r[i] -= mul(a, q[i])
		s0 += wide(r[i], r[i])
	}
	return s0 + s1
}

// biCGSTABDirectionGeneric computes p = r + b*(p - w*v).
func biCGSTABDirectionGeneric[V sparse.Value](r []V, b, w V, v, p []V) {
	v, p = v[:len(r)], p[:len(r)]
	for i := range r {
		p[i] = r[i] + mul(b, p[i]-mul(w, v[i]))
	}
}

// BiCGSTABStep computes x = x + a*p + w*s and r = r - w*t and returns r'r and c'r. s may be r.
func BiCGSTABStep[V sparse.Value](a V, p []V, w V, s, x, t, r, c []V) (rr, cr float64) {
	var rs, cs Sum
	AddBiCGSTABStep(a, p, w, s, x, t, r, c, &rs, &cs)
	return rs.Total(), cs.Total()
}

// addBiCGSTABStepGeneric is BiCGSTABStep, but adds r'r to rr and c'r to cr.
func addBiCGSTABStepGeneric[V sparse.Value](a V, p []V, w V, s, x, t, r, c []V, rr, cr *Sum) {
	n := len(p)
	s, x, t, r, c = s[:n], x[:n], t[:n], r[:n], c[:n]
	for i := range p {
		x[i] += mul(a, p[i]) + mul(w, s[i])
		e := r[i] - mul(w, t[i])
		r[i] = e
		rr[i&7] += wide(e, e)
		cr[i&7] += wide(c[i], e)
	}
}
