// Package vec has the loops over vectors that iterative solvers make, for one
// goroutine and as much as stays in a cache. All slices of a call have the same
// length. Operations that read the same vectors are one.
//
// Sums are in float64 and run in several parts, so that additions do not wait for
// one another. Every product is rounded before it is added, so that all processors
// give the same bits, those with fused multiply-add too.
package vec

import "github.com/msrep-go/msrep/sparse"

// mul is a*b, rounded: the conversion forbids the compiler to fuse it with an addition.
func mul[V sparse.Value](a, b V) V { return V(a * b) }

// wide is a*b in float64, rounded.
func wide[V sparse.Value](a, b V) float64 { return float64(float64(a) * float64(b)) }

// Set is dst = a*src.
func Set[V sparse.Value](a V, src, dst []V) {
	dst = dst[:len(src)]
	for i, v := range src {
		dst[i] = a * v
	}
}

// Misfit is |y - a*x|^2.
func Misfit[V sparse.Value](y []V, a V, x []V) float64 {
	y = y[:len(x)]
	var s0, s1 float64
	for i, v := range x {
		d := y[i] - mul(a, v)
		s0, s1 = s1+wide(d, d), s0
	}
	return s0 + s1
}

// Dot is x'y.
func Dot[V sparse.Value](x, y []V) float64 {
	y = y[:len(x)]
	var s0, s1, s2, s3 float64
	i := 0
	for ; i+4 <= len(x); i += 4 {
		a, b := x[i:i+4:i+4], y[i:i+4:i+4]
		s0 += wide(a[0], b[0])
		s1 += wide(a[1], b[1])
		s2 += wide(a[2], b[2])
		s3 += wide(a[3], b[3])
	}
	for ; i < len(x); i++ {
		s0 += wide(x[i], y[i])
	}
	return (s0 + s1) + (s2 + s3)
}

// Dots is x'y and x'x.
func Dots[V sparse.Value](x, y []V) (xy, xx float64) {
	y = y[:len(x)]
	var s0, s1, t0, t1 float64
	i := 0
	for ; i+2 <= len(x); i += 2 {
		a, b := x[i:i+2:i+2], y[i:i+2:i+2]
		s0 += wide(a[0], b[0])
		t0 += wide(a[0], a[0])
		s1 += wide(a[1], b[1])
		t1 += wide(a[1], a[1])
	}
	if i < len(x) {
		s0 += wide(x[i], y[i])
		t0 += wide(x[i], x[i])
	}
	return s0 + s1, t0 + t1
}

// Axpy is y = y + a*x, and y'y.
func Axpy[V sparse.Value](a V, x, y []V) float64 {
	y = y[:len(x)]
	var s0, s1 float64
	i := 0
	for ; i+2 <= len(x); i += 2 {
		u, v := x[i:i+2:i+2], y[i:i+2:i+2]
		e0, e1 := v[0]+mul(a, u[0]), v[1]+mul(a, u[1])
		v[0], v[1] = e0, e1
		s0 += wide(e0, e0)
		s1 += wide(e1, e1)
	}
	if i < len(x) {
		y[i] += mul(a, x[i])
		s0 += wide(y[i], y[i])
	}
	return s0 + s1
}

// Xpby is y = x + b*y.
func Xpby[V sparse.Value](x []V, b V, y []V) {
	y = y[:len(x)]
	for i := range x {
		y[i] = x[i] + mul(b, y[i])
	}
}

// Axpby is y = a*x + b*y. b = 0 does not read y.
func Axpby[V sparse.Value](a V, x []V, b V, y []V) {
	switch {
	case b == 0:
		Set(a, x, y)
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

// Multiply is z = d*r, element by element.
func Multiply[V sparse.Value](d, r, z []V) {
	d, r = d[:len(z)], r[:len(z)]
	for i := range z {
		z[i] = d[i] * r[i]
	}
}

// Step is x = x + a*p and r = r - a*q, and r'r.
func Step[V sparse.Value](a V, p, q, x, r []V) float64 {
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

// Turn is p = r + b*(p - w*v).
func Turn[V sparse.Value](r []V, b, w V, v, p []V) {
	v, p = v[:len(r)], p[:len(r)]
	for i := range r {
		p[i] = r[i] + mul(b, p[i]-mul(w, v[i]))
	}
}

// Finish is x = x + a*p + w*s and r = r - w*t, and r'r and c'r. s may be r.
func Finish[V sparse.Value](a V, p []V, w V, s, x, t, r, c []V) (rr, cr float64) {
	n := len(p)
	s, x, t, r, c = s[:n], x[:n], t[:n], r[:n], c[:n]
	for i := range p {
		x[i] += mul(a, p[i]) + mul(w, s[i])
		e := r[i] - mul(w, t[i])
		r[i] = e
		rr += wide(e, e)
		cr += wide(c[i], e)
	}
	return rr, cr
}
