package vec

import "github.com/msrep-go/msrep/sparse"

// Axpy computes y = y + a*x and returns y'y.
func Axpy[V sparse.Value](a V, x, y []V) float64 {
	var s Sum
	AddAxpy(a, x, y, &s)
	return s.Total()
}

// AddAxpy computes y = y + a*x and s += y'y.
func AddAxpy[V sparse.Value](a V, x, y []V, s *Sum) {
	y = y[:len(x)]
	n := grouped[V](len(x))
	if n > 0 {
		axpyF64(level, n/8, float64(a), start(x), start(y), (*[8]float64)(s))
	}
	addAxpyGeneric(a, x[n:], y[n:], s)
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

// AddAxpyScaled computes y = y + a*x, s += y'y and scaled += y'(d*y); d*y is element by element.
func AddAxpyScaled[V sparse.Value](a V, x, y, d []V, s, scaled *Sum) {
	y, d = y[:len(x)], d[:len(x)]
	n := grouped[V](len(x))
	if n > 0 {
		axpyScaledF64(level, n/8, float64(a), start(x), start(y), start(d), (*[8]float64)(s), (*[8]float64)(scaled))
	}
	addAxpyScaledGeneric(a, x[n:], y[n:], d[n:], s, scaled)
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
