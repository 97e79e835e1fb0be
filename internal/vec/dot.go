package vec

import "github.com/msrep-go/msrep/sparse"

// Dot returns x'y.
func Dot[V sparse.Value](x, y []V) float64 {
	var s Sum
	AddDot(x, y, &s)
	return s.Total()
}

// AddDot computes s += x'y.
func AddDot[V sparse.Value](x, y []V, s *Sum) {
	y = y[:len(x)]
	n := grouped[V](len(x))
	if n > 0 {
		dotF64(level, n/8, start(x), start(y), (*[8]float64)(s))
	}
	addDotGeneric(x[n:], y[n:], s)
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

// AddDots computes xy += x'y and xx += x'x.
func AddDots[V sparse.Value](x, y []V, xy, xx *Sum) {
	y = y[:len(x)]
	n := grouped[V](len(x))
	if n > 0 {
		dotsF64(level, n/8, start(x), start(y), (*[8]float64)(xy), (*[8]float64)(xx))
	}
	addDotsGeneric(x[n:], y[n:], xy, xx)
}

// addDotsGeneric adds x'y to xy and x'x to xx.
func addDotsGeneric[V sparse.Value](x, y []V, xy, xx *Sum) {
	y = y[:len(x)]
	for i, v := range x {
		xy[i&7] += wide(v, y[i])
		xx[i&7] += wide(v, v)
	}
}
