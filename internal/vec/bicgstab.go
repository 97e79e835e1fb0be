package vec

import "github.com/msrep-go/msrep/sparse"

// BiCGSTABDirection computes p = r + b*(p - w*v).
func BiCGSTABDirection[V sparse.Value](r []V, b, w V, v, p []V) {
	v, p = v[:len(r)], p[:len(r)]
	n := grouped[V](len(r))
	if n > 0 {
		bicgstabDirectionF64(level, n/8, float64(b), float64(w), start(r), start(v), start(p))
	}
	biCGSTABDirectionGeneric(r[n:], b, w, v[n:], p[n:])
}

// biCGSTABDirectionGeneric computes p = r + b*(p - w*v).
func biCGSTABDirectionGeneric[V sparse.Value](r []V, b, w V, v, p []V) {
	v, p = v[:len(r)], p[:len(r)]
	for i := range r {
		p[i] = r[i] + mul(b, p[i]-mul(w, v[i]))
	}
}

// AddBiCGSTABStep computes x = x + (a*p + w*s), r = r - w*t, rr += r'r and cr += c'r. s may be r.
func AddBiCGSTABStep[V sparse.Value](a V, p []V, w V, s, x, t, r, c []V, rr, cr *Sum) {
	k := len(p)
	s, x, t, r, c = s[:k], x[:k], t[:k], r[:k], c[:k]
	n := grouped[V](k)
	if n > 0 {
		bicgstabStepF64(level, n/8, float64(a), float64(w), start(p), start(s), start(x), start(t), start(r), start(c), (*[8]float64)(rr), (*[8]float64)(cr))
	}
	addBiCGSTABStepGeneric(a, p[n:], w, s[n:], x[n:], t[n:], r[n:], c[n:], rr, cr)
}

// addBiCGSTABStepGeneric is AddBiCGSTABStep in plain Go.
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
