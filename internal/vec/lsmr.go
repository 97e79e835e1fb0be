package vec

import "github.com/msrep-go/msrep/sparse"

// LSMRStep computes w = h - a*w, x = x + b*w and h = c*v - d*h, where w is the new and h the old vector.
func LSMRStep[V sparse.Value](a V, w []V, b V, x []V, c V, v []V, d V, h []V) {
	n := len(v)
	w, x, h = w[:n], x[:n], h[:n]
	for i, e := range v {
		old := h[i]
		next := old - mul(a, w[i])
		w[i] = next
		x[i] += mul(b, next)
		h[i] = mul(c, e) - mul(d, old)
	}
}
