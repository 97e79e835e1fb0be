package vec

import (
	"github.com/msrep-go/msrep/internal/simd"
)

// The loops over several interleaved vectors, row by row, with the bits of package vec on all
// levels. Factors and sums have Parts elements.

// DotMany computes parts_j += x_j'y_j.
func DotMany(x, y, parts []float64) {
	y = y[:len(x)]
	n := rowsGrouped(len(x), len(parts))
	if n > 0 {
		vectorKernels[level-simd.AVX2].dotMany(n/len(parts), len(parts), &x[0], &y[0], &parts[0])
	}
	dotManyGeneric(x[n:], y[n:], parts)
}

// AxpyMany computes y_j = y_j + a_j*x_j and parts_j += y_j'y_j.
func AxpyMany(a, x, y, parts []float64) {
	a, y = a[:len(parts)], y[:len(x)]
	n := rowsGrouped(len(x), len(parts))
	if n > 0 {
		vectorKernels[level-simd.AVX2].axpyMany(n/len(parts), len(parts), &a[0], &x[0], &y[0], &parts[0])
	}
	axpyManyGeneric(a, x[n:], y[n:], parts)
}

// UpdateDirectionMany computes x_j = x_j + a_j*p_j, then p_j = z_j + b_j*p_j.
func UpdateDirectionMany(a, b, z, p, x []float64) {
	b, p, x = b[:len(a)], p[:len(z)], x[:len(z)]
	n := rowsGrouped(len(z), len(a))
	if n > 0 {
		vectorKernels[level-simd.AVX2].updateDirectionMany(n/len(a), len(a), &a[0], &b[0], &z[0], &p[0], &x[0])
	}
	updateDirectionManyGeneric(a, b, z[n:], p[n:], x[n:])
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
		vectorKernels[level-simd.AVX2].scaleMany(n, m, &d[0], &r[0], &z[0])
	}
	scaleManyGeneric(m, d[n:], r[n*m:], z[n*m:])
}

// rowsGrouped returns how many elements assembly computes: whole rows of parts elements.
func rowsGrouped(elements, parts int) int {
	if level == simd.Generic || parts == 0 || parts%16 != 0 {
		return 0
	}
	return elements - elements%parts
}
