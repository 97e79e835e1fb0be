package vec

import "github.com/msrep-go/msrep/sparse"

// MINRESStep computes x = x + e*u, then w = a*z + b*u + c*w.
func MINRESStep[V sparse.Value](a V, z []V, b V, u []V, c V, w []V, e V, x []V) {
	n := len(z)
	u, w, x = u[:n], w[:n], x[:n]
	for i, v := range z {
		x[i] += mul(e, u[i])
		w[i] = mul(a, v) + mul(b, u[i]) + mul(c, w[i])
	}
}
