package vec

import "github.com/msrep-go/msrep/sparse"

// The functions of several vectors at once take them row by row: element i of vector
// j is v[i*m+j], and m is the number of factors or sums. They go over the rows once for
// each four vectors, whose sums stay in registers: as much as a cache holds at a time.

// DotMany adds x_j'y_j to sums[j].
func DotMany[V sparse.Value](x, y []V, sums []float64) {
	m, j := len(sums), 0
	y = y[:len(x)]
	for ; j+4 <= m; j += 4 {
		s0, s1, s2, s3 := sums[j], sums[j+1], sums[j+2], sums[j+3]
		for i := j; i+4 <= len(x); i += m {
			a, b := x[i:i+4:i+4], y[i:i+4:i+4]
			s0 += wide(a[0], b[0])
			s1 += wide(a[1], b[1])
			s2 += wide(a[2], b[2])
			s3 += wide(a[3], b[3])
		}
		sums[j], sums[j+1], sums[j+2], sums[j+3] = s0, s1, s2, s3
	}
	for ; j < m; j++ {
		s := sums[j]
		for i := j; i < len(x); i += m {
			s += wide(x[i], y[i])
		}
		sums[j] = s
	}
}

// StepMany is x_j = x_j + a[j]*p_j and r_j = r_j - a[j]*q_j, and adds r_j'r_j to
// sums[j].
func StepMany[V sparse.Value](a []V, p, q, x, r []V, sums []float64) {
	m, j := len(a), 0
	q, x, r = q[:len(p)], x[:len(p)], r[:len(p)]
	for ; j+4 <= m; j += 4 {
		a0, a1, a2, a3 := a[j], a[j+1], a[j+2], a[j+3]
		s0, s1, s2, s3 := sums[j], sums[j+1], sums[j+2], sums[j+3]
		for i := j; i+4 <= len(p); i += m {
			pi, qi, xi, ri := p[i:i+4:i+4], q[i:i+4:i+4], x[i:i+4:i+4], r[i:i+4:i+4]
			xi[0] += mul(a0, pi[0])
			xi[1] += mul(a1, pi[1])
			xi[2] += mul(a2, pi[2])
			xi[3] += mul(a3, pi[3])
			e0, e1 := ri[0]-mul(a0, qi[0]), ri[1]-mul(a1, qi[1])
			e2, e3 := ri[2]-mul(a2, qi[2]), ri[3]-mul(a3, qi[3])
			ri[0], ri[1], ri[2], ri[3] = e0, e1, e2, e3
			s0 += wide(e0, e0)
			s1 += wide(e1, e1)
			s2 += wide(e2, e2)
			s3 += wide(e3, e3)
		}
		sums[j], sums[j+1], sums[j+2], sums[j+3] = s0, s1, s2, s3
	}
	for ; j < m; j++ {
		f, s := a[j], sums[j]
		for i := j; i < len(p); i += m {
			x[i] += mul(f, p[i])
			e := r[i] - mul(f, q[i])
			r[i] = e
			s += wide(e, e)
		}
		sums[j] = s
	}
}

// XpbyMany is y_j = x_j + b[j]*y_j.
func XpbyMany[V sparse.Value](x []V, b, y []V) {
	m, j := len(b), 0
	y = y[:len(x)]
	for ; j+4 <= m; j += 4 {
		b0, b1, b2, b3 := b[j], b[j+1], b[j+2], b[j+3]
		for i := j; i+4 <= len(x); i += m {
			u, v := x[i:i+4:i+4], y[i:i+4:i+4]
			v[0] = u[0] + mul(b0, v[0])
			v[1] = u[1] + mul(b1, v[1])
			v[2] = u[2] + mul(b2, v[2])
			v[3] = u[3] + mul(b3, v[3])
		}
	}
	for ; j < m; j++ {
		f := b[j]
		for i := j; i < len(x); i += m {
			y[i] = x[i] + mul(f, y[i])
		}
	}
}
