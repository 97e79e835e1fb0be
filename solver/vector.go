package solver

// The loops of hostSpace over a block. All slices of a call have the same length.
// Sums run in four parts, so that additions do not wait for one another.

// set is dst = a*src.
func set(a float64, src, dst []float64) {
	dst = dst[:len(src)]
	for i, v := range src {
		dst[i] = a * v
	}
}

// misfit is |y - a*x|^2.
func misfit(y []float64, a float64, x []float64) float64 {
	y = y[:len(x)]
	var s0, s1 float64
	for i, v := range x {
		d := y[i] - a*v
		s0, s1 = s1+d*d, s0
	}
	return s0 + s1
}

// dot is x'y.
func dot(x, y []float64) float64 {
	y = y[:len(x)]
	var s0, s1, s2, s3 float64
	i := 0
	for ; i+4 <= len(x); i += 4 {
		a, b := x[i:i+4:i+4], y[i:i+4:i+4]
		s0 += a[0] * b[0]
		s1 += a[1] * b[1]
		s2 += a[2] * b[2]
		s3 += a[3] * b[3]
	}
	for ; i < len(x); i++ {
		s0 += x[i] * y[i]
	}
	return (s0 + s1) + (s2 + s3)
}

// dots is x'y and x'x.
func dots(x, y []float64) (xy, xx float64) {
	y = y[:len(x)]
	var s0, s1, t0, t1 float64
	i := 0
	for ; i+2 <= len(x); i += 2 {
		a, b := x[i:i+2:i+2], y[i:i+2:i+2]
		s0 += a[0] * b[0]
		t0 += a[0] * a[0]
		s1 += a[1] * b[1]
		t1 += a[1] * a[1]
	}
	if i < len(x) {
		s0 += x[i] * y[i]
		t0 += x[i] * x[i]
	}
	return s0 + s1, t0 + t1
}

// axpy is y = y + a*x, and y'y.
func axpy(a float64, x, y []float64) float64 {
	y = y[:len(x)]
	var s0, s1 float64
	i := 0
	for ; i+2 <= len(x); i += 2 {
		u, v := x[i:i+2:i+2], y[i:i+2:i+2]
		e0, e1 := v[0]+a*u[0], v[1]+a*u[1]
		v[0], v[1] = e0, e1
		s0 += e0 * e0
		s1 += e1 * e1
	}
	if i < len(x) {
		y[i] += a * x[i]
		s0 += y[i] * y[i]
	}
	return s0 + s1
}

// xpby is y = x + b*y.
func xpby(x []float64, b float64, y []float64) {
	y = y[:len(x)]
	for i := range x {
		y[i] = x[i] + b*y[i]
	}
}

// step is x = x + a*p and r = r - a*q, and r'r.
func step(a float64, p, q, x, r []float64) float64 {
	q, x, r = q[:len(p)], x[:len(p)], r[:len(p)]
	var s0, s1 float64
	i := 0
	for ; i+2 <= len(p); i += 2 {
		pi, qi, xi, ri := p[i:i+2:i+2], q[i:i+2:i+2], x[i:i+2:i+2], r[i:i+2:i+2]
		e0, e1 := ri[0]-a*qi[0], ri[1]-a*qi[1]
		xi[0] += a * pi[0]
		xi[1] += a * pi[1]
		ri[0], ri[1] = e0, e1
		s0 += e0 * e0
		s1 += e1 * e1
	}
	if i < len(p) {
		x[i] += a * p[i]
		r[i] -= a * q[i]
		s0 += r[i] * r[i]
	}
	return s0 + s1
}

// turn is p = r + b*(p - w*v).
func turn(r []float64, b, w float64, v, p []float64) {
	v, p = v[:len(r)], p[:len(r)]
	for i := range r {
		p[i] = r[i] + b*(p[i]-w*v[i])
	}
}

// finish is x = x + a*p + w*s and r = r - w*t, and r'r and c'r.
func finish(a float64, p []float64, w float64, s, x, t, r, c []float64) (rr, cr float64) {
	n := len(p)
	s, x, t, r, c = s[:n], x[:n], t[:n], r[:n], c[:n]
	for i := range p {
		x[i] += a*p[i] + w*s[i]
		e := r[i] - w*t[i]
		r[i] = e
		rr += e * e
		cr += c[i] * e
	}
	return rr, cr
}
