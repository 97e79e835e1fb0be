package vec

import "github.com/msrep-go/msrep/sparse"

// The functions of several vectors at once take them row by row: element i of vector
// j is v[i*m+j], and m is the number of factors or sums.

// DotMany adds x_j'y_j to sums[j].
func DotMany[V sparse.Value](x, y []V, sums []float64) {
	m := len(sums)
	for ; len(x) >= m && m > 0; x, y = x[m:], y[m:] {
		a, b := x[:m], y[:m]
		for j := range sums {
			sums[j] += float64(a[j]) * float64(b[j])
		}
	}
}

// StepMany is x_j = x_j + a[j]*p_j and r_j = r_j - a[j]*q_j, and adds r_j'r_j to
// sums[j].
func StepMany[V sparse.Value](a []V, p, q, x, r []V, sums []float64) {
	m := len(a)
	sums = sums[:m]
	for ; len(p) >= m && m > 0; p, q, x, r = p[m:], q[m:], x[m:], r[m:] {
		pi, qi, xi, ri := p[:m], q[:m], x[:m], r[:m]
		for j, f := range a {
			xi[j] += f * pi[j]
			e := ri[j] - f*qi[j]
			ri[j] = e
			sums[j] += float64(e) * float64(e)
		}
	}
}

// XpbyMany is y_j = x_j + b[j]*y_j.
func XpbyMany[V sparse.Value](x []V, b, y []V) {
	m := len(b)
	for ; len(x) >= m && m > 0; x, y = x[m:], y[m:] {
		u, v := x[:m], y[:m]
		for j, f := range b {
			v[j] = u[j] + f*v[j]
		}
	}
}
