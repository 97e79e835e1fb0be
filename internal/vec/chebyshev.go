package vec

import "github.com/msrep-go/msrep/sparse"

// ChebyshevStart computes d = c*m*b, then x = d and r = b.
func ChebyshevStart[V sparse.Value](c V, m, b, d, x, r []V) {
	n := len(b)
	m, d, x, r = m[:n], d[:n], x[:n], r[:n]
	for i, v := range b {
		e := mul(c, mul(m[i], v))
		d[i], x[i], r[i] = e, e, v
	}
}

// ChebyshevStep computes d = a*d + c*m*r, then x = x + d.
func ChebyshevStep[V sparse.Value](a, c V, m, r, d, x []V) {
	n := len(r)
	m, d, x = m[:n], d[:n], x[:n]
	for i, v := range r {
		e := mul(a, d[i]) + mul(c, mul(m[i], v))
		d[i] = e
		x[i] += e
	}
}
