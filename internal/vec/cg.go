package vec

import "github.com/msrep-go/msrep/sparse"

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

// UpdateDirection computes x = x + a*p, then p = z + b*p.
func UpdateDirection[V sparse.Value](a, b V, z, p, x []V) {
	p, x = p[:len(z)], x[:len(z)]
	n := grouped[V](len(z))
	if n > 0 {
		updateDirectionF64(level, n/8, float64(a), float64(b), start(z), start(p), start(x))
	}
	updateDirectionGeneric(a, b, z[n:], p[n:], x[n:])
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

// UpdateDirectionScaled computes x = x + a*p, then p = d*r + b*p; d*r is element by element.
func UpdateDirectionScaled[V sparse.Value](a, b V, d, r, p, x []V) {
	r, p, x = r[:len(d)], p[:len(d)], x[:len(d)]
	n := grouped[V](len(d))
	if n > 0 {
		updateDirectionScaledF64(level, n/8, float64(a), float64(b), start(d), start(r), start(p), start(x))
	}
	updateDirectionScaledGeneric(a, b, d[n:], r[n:], p[n:], x[n:])
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
