package vec

import "github.com/msrep-go/msrep/internal/simd"

// The functions for several vectors take them row by row: element i of vector j, of m vectors, is v[i*m+j].
// The factors and the partial sums are slices of Parts(m) elements: element e of the rows has factor
// e%Parts(m) and is added to partial sum e%Parts(m). Parts(m) is a multiple of m and, as a rule, of the SIMD
// width, so that one loop works for every m.

// simdWidth is the number of elements that the assembly processes in one step.
const simdWidth = 16

// Parts returns the number of factors and partial sums for m > 0 vectors: the least common multiple of m and
// 16, or m where that is more than 4096.
func Parts(m int) int {
	const most = 4096
	if p := simdWidth / (m & -m); m%simdWidth != 0 && p > 1 {
		if m*p > most {
			return m
		}
		return m * p
	}
	return m
}

// Repeat repeats numbers, which has one element for each vector, to Parts(len(numbers)) elements.
func Repeat(numbers []float64) []float64 {
	out := make([]float64, Parts(len(numbers)))
	for i := 0; i < len(out); i += len(numbers) {
		copy(out[i:], numbers)
	}
	return out
}

// Totals computes sums[j], the sum of vector j, from the partial sums in parts: the sum of parts[j],
// parts[j+m], parts[j+2*m], ... for m = len(sums), in order.
func Totals(parts, sums []float64) {
	copy(sums, parts)
	for i := len(sums); i < len(parts); i += len(sums) {
		for j, v := range parts[i : i+len(sums)] {
			sums[j] += v
		}
	}
}

// chunk returns the n elements of v from at on, or fewer at the end of v.
func chunk(v []float64, at, n int) []float64 { return v[at:min(at+n, len(v))] }

// rowsGrouped returns how many elements assembly computes: whole rows of parts elements.
func rowsGrouped(elements, parts int) int {
	if level == simd.Generic || parts == 0 || parts%16 != 0 {
		return 0
	}
	return elements - elements%parts
}

// DotMany computes parts_j += x_j'y_j.
func DotMany(x, y, parts []float64) {
	y = y[:len(x)]
	n := rowsGrouped(len(x), len(parts))
	if n > 0 {
		dotManyF64(level, n/len(parts), len(parts), &x[0], &y[0], &parts[0])
	}
	dotManyGeneric(x[n:], y[n:], parts)
}

// dotManyGeneric adds x_j'y_j to the partial sums of each vector j.
func dotManyGeneric(x, y, parts []float64) {
	for at := 0; at < len(x); at += len(parts) {
		x := chunk(x, at, len(parts))
		y, s := y[at:][:len(x)], parts[:len(x)]
		for i, v := range x {
			s[i] += wide(v, y[i])
		}
	}
}

// AxpyMany computes y_j = y_j + a_j*x_j and parts_j += y_j'y_j.
func AxpyMany(a, x, y, parts []float64) {
	a, y = a[:len(parts)], y[:len(x)]
	n := rowsGrouped(len(x), len(parts))
	if n > 0 {
		axpyManyF64(level, n/len(parts), len(parts), &a[0], &x[0], &y[0], &parts[0])
	}
	axpyManyGeneric(a, x[n:], y[n:], parts)
}

// axpyManyGeneric computes y_j = y_j + a_j*x_j and adds y_j'y_j to the partial sums, for each vector j.
func axpyManyGeneric(a, x, y, parts []float64) {
	for at := 0; at < len(x); at += len(parts) {
		x := chunk(x, at, len(parts))
		a, y, s := a[:len(x)], y[at:][:len(x)], parts[:len(x)]
		for i, v := range x {
			e := y[i] + mul(a[i], v)
			y[i] = e
			s[i] += wide(e, e)
		}
	}
}

// UpdateDirectionMany computes x_j = x_j + a_j*p_j, then p_j = z_j + b_j*p_j.
func UpdateDirectionMany(a, b, z, p, x []float64) {
	b, p, x = b[:len(a)], p[:len(z)], x[:len(z)]
	n := rowsGrouped(len(z), len(a))
	if n > 0 {
		updateDirectionManyF64(level, n/len(a), len(a), &a[0], &b[0], &z[0], &p[0], &x[0])
	}
	updateDirectionManyGeneric(a, b, z[n:], p[n:], x[n:])
}

// updateDirectionManyGeneric computes x_j = x_j + a_j*p_j and p_j = z_j + b_j*p_j for each vector j.
func updateDirectionManyGeneric(a, b, z, p, x []float64) {
	for at := 0; at < len(z); at += len(a) {
		z := chunk(z, at, len(a))
		a, b, p, x := a[:len(z)], b[:len(z)], p[at:][:len(z)], x[at:][:len(z)]
		for i, v := range z {
			old := p[i]
			x[i] += mul(a[i], old)
			p[i] = v + mul(b[i], old)
		}
	}
}

// ScaleMany computes z_j = d*r_j, element by element, for each of m vectors.
func ScaleMany(m int, d, r, z []float64) {
	r, z = r[:m*len(d)], z[:m*len(d)]
	level := level
	if m <= 4 {
		level = min(level, simd.AVX2) // a row fits in one register
	}
	n := 0
	if level != simd.Generic && m > 0 {
		width := simd.RegisterBytes(level) / 8
		n = max(len(d)-(width-1+m-1)/m, 0) // the last register of a row reaches into the next rows
	}
	if n > 0 {
		scaleManyF64(level, n, m, &d[0], &r[0], &z[0])
	}
	scaleManyGeneric(m, d[n:], r[n*m:], z[n*m:])
}

// scaleManyGeneric computes z_j = d*r_j, element by element, for each of m vectors.
func scaleManyGeneric(m int, d, r, z []float64) {
	for i, f := range d {
		r, z := r[i*m:(i+1)*m], z[i*m:(i+1)*m]
		for j, v := range r {
			z[j] = f * v
		}
	}
}
