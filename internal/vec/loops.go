package vec

import (
	"unsafe"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/sparse"
)

// The loops in assembly. Float32, the elements after the last group and processors without assembly
// have the loops in plain Go, with the same bits. The caller allocates sums, because arguments of
// kernels in tables escape to the heap.

// AddDot computes s += x'y.
func AddDot[V sparse.Value](x, y []V, s *Sum) {
	y = y[:len(x)]
	n := grouped[V](len(x))
	if n > 0 {
		vectorKernels[level-simd.AVX2].dot(n/8, start(x), start(y), (*[8]float64)(s))
	}
	addDotGeneric(x[n:], y[n:], s)
}

// AddDots computes xy += x'y and xx += x'x.
func AddDots[V sparse.Value](x, y []V, xy, xx *Sum) {
	y = y[:len(x)]
	n := grouped[V](len(x))
	if n > 0 {
		vectorKernels[level-simd.AVX2].dots(n/8, start(x), start(y), (*[8]float64)(xy), (*[8]float64)(xx))
	}
	addDotsGeneric(x[n:], y[n:], xy, xx)
}

// AddAxpy computes y = y + a*x and s += y'y.
func AddAxpy[V sparse.Value](a V, x, y []V, s *Sum) {
	y = y[:len(x)]
	n := grouped[V](len(x))
	if n > 0 {
		vectorKernels[level-simd.AVX2].axpy(n/8, float64(a), start(x), start(y), (*[8]float64)(s))
	}
	addAxpyGeneric(a, x[n:], y[n:], s)
}

// AddAxpyScaled computes y = y + a*x, s += y'y and scaled += y'(d*y); d*y is element by element.
func AddAxpyScaled[V sparse.Value](a V, x, y, d []V, s, scaled *Sum) {
	y, d = y[:len(x)], d[:len(x)]
	n := grouped[V](len(x))
	if n > 0 {
		vectorKernels[level-simd.AVX2].axpyScaled(n/8, float64(a), start(x), start(y), start(d), (*[8]float64)(s), (*[8]float64)(scaled))
	}
	addAxpyScaledGeneric(a, x[n:], y[n:], d[n:], s, scaled)
}

// UpdateDirection computes x = x + a*p, then p = z + b*p.
func UpdateDirection[V sparse.Value](a, b V, z, p, x []V) {
	p, x = p[:len(z)], x[:len(z)]
	n := grouped[V](len(z))
	if n > 0 {
		vectorKernels[level-simd.AVX2].updateDirection(n/8, float64(a), float64(b), start(z), start(p), start(x))
	}
	updateDirectionGeneric(a, b, z[n:], p[n:], x[n:])
}

// UpdateDirectionScaled computes x = x + a*p, then p = d*r + b*p; d*r is element by element.
func UpdateDirectionScaled[V sparse.Value](a, b V, d, r, p, x []V) {
	r, p, x = r[:len(d)], p[:len(d)], x[:len(d)]
	n := grouped[V](len(d))
	if n > 0 {
		vectorKernels[level-simd.AVX2].updateDirectionScaled(n/8, float64(a), float64(b), start(d), start(r), start(p), start(x))
	}
	updateDirectionScaledGeneric(a, b, d[n:], r[n:], p[n:], x[n:])
}

// BiCGSTABDirection computes p = r + b*(p - w*v).
func BiCGSTABDirection[V sparse.Value](r []V, b, w V, v, p []V) {
	v, p = v[:len(r)], p[:len(r)]
	n := grouped[V](len(r))
	if n > 0 {
		vectorKernels[level-simd.AVX2].bicgstabDirection(n/8, float64(b), float64(w), start(r), start(v), start(p))
	}
	biCGSTABDirectionGeneric(r[n:], b, w, v[n:], p[n:])
}

// AddBiCGSTABStep computes x = x + (a*p + w*s), r = r - w*t, rr += r'r and cr += c'r. s may be r.
func AddBiCGSTABStep[V sparse.Value](a V, p []V, w V, s, x, t, r, c []V, rr, cr *Sum) {
	k := len(p)
	s, x, t, r, c = s[:k], x[:k], t[:k], r[:k], c[:k]
	n := grouped[V](k)
	if n > 0 {
		vectorKernels[level-simd.AVX2].bicgstabStep(n/8, float64(a), float64(w), start(p), start(s), start(x), start(t), start(r), start(c), (*[8]float64)(rr), (*[8]float64)(cr))
	}
	addBiCGSTABStepGeneric(a, p[n:], w, s[n:], x[n:], t[n:], r[n:], c[n:], rr, cr)
}

// level is the instruction set of the loops. Tests replace it.
var level = simd.Default()

// grouped returns how many elements assembly computes: of float64, whole groups of 8, the number of
// parts of a sum.
func grouped[V sparse.Value](elements int) int {
	if level == simd.Generic || mem.Size[V]() != 8 {
		return 0
	}
	return elements &^ 7
}

// start returns the first element of a vector of float64, for assembly.
func start[V sparse.Value](x []V) *float64 { return (*float64)(unsafe.Pointer(&x[0])) }

// vectorTable has the kernels of one Level, for n > 0 groups of 8 elements.
type vectorTable struct {
	dot                   func(n int, x, y *float64, sums *[8]float64)
	dots                  func(n int, x, y *float64, sums, squares *[8]float64)
	axpy                  func(n int, a float64, x, y *float64, sums *[8]float64)
	axpyScaled            func(n int, a float64, x, y, d *float64, sums, scaled *[8]float64)
	updateDirection       func(n int, a, b float64, z, p, x *float64)
	updateDirectionScaled func(n int, a, b float64, d, r, p, x *float64)
	bicgstabDirection     func(n int, b, w float64, r, v, p *float64)
	bicgstabStep          func(n int, a, w float64, p, s, x, t, r, c *float64, sums, shadows *[8]float64)
	axpyFour              func(n int, a0, a1, a2, a3 float64, x0, x1, x2, x3, y *float64)

	dotFourTwo  func(n int, x0, x1, x2, x3, y, z *float64, s0, s1, s2, s3, t0, t1, t2, t3 *[8]float64)
	axpyFourTwo func(n int, a0, a1, a2, a3, b0, b1, b2, b3 float64, x0, x1, x2, x3, y, z *float64)

	// n rows of parts elements, a multiple of 16; scaleMany: n rows of m
	dotMany             func(n, parts int, x, y, sums *float64)
	axpyMany            func(n, parts int, a, x, y, sums *float64)
	updateDirectionMany func(n, parts int, a, b, z, p, x *float64)
	scaleMany           func(n, m int, d, r, z *float64)
}
