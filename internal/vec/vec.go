// Package vec has the loops over vectors of the iterative solvers. A call runs in one goroutine, on a chunk of
// the vectors that fits in a cache. All slices of a call have the same length. Operations on the same vectors
// are fused into one loop.
//
// Sums are in float64 and consist of several partial sums (see Sum), which SIMD registers and independent
// additions can use. Every product is rounded before it is added, so that all processors give the same bits,
// with fused multiply-add or without. Some loops are in assembly as well, with the same bits.
//
// A loop with assembly is a function that calls the assembly for whole groups of elements and the loop in plain Go for
// the rest. The generator kernels/cpu/internal/gen/vec/vectors makes the assembly for amd64 and arm64 and the function
// that calls it for a level (vectors_levels_amd64.go and so on). .ci/asm.sh runs the generator.
package vec

import "github.com/msrep-go/msrep/sparse"

// mul returns a*b, rounded. The conversion prevents the compiler from fusing the product with an addition.
func mul[V sparse.Value](a, b V) V { return V(a * b) }

// wide returns a*b in float64, rounded.
func wide[V sparse.Value](a, b V) float64 { return float64(float64(a) * float64(b)) }

// Sum is eight partial sums: element i of the vectors is added to partial sum i%8.
type Sum [8]float64

// Total returns the sum of the partial sums.
func (s *Sum) Total() float64 {
	return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]))
}

// ScaleTo computes dst = a*src.
func ScaleTo[V sparse.Value](a V, src, dst []V) {
	dst = dst[:len(src)]
	for i, v := range src {
		dst[i] = a * v
	}
}

// Xpby computes y = x + b*y.
func Xpby[V sparse.Value](x []V, b V, y []V) {
	y = y[:len(x)]
	for i := range x {
		y[i] = x[i] + mul(b, y[i])
	}
}

// Axpby computes y = a*x + b*y. b = 0 does not read y.
func Axpby[V sparse.Value](a V, x []V, b V, y []V) {
	switch {
	case b == 0:
		ScaleTo(a, x, y)
		return
	case a == 1:
		Xpby(x, b, y)
		return
	}
	y = y[:len(x)]
	for i, v := range x {
		y[i] = mul(a, v) + mul(b, y[i])
	}
}

// Multiply computes z = d*r, element by element.
func Multiply[V sparse.Value](d, r, z []V) {
	d, r = d[:len(z)], r[:len(z)]
	for i := range z {
		z[i] = d[i] * r[i]
	}
}

// Misfit returns |y - a*x|^2.
func Misfit[V sparse.Value](y []V, a V, x []V) float64 {
	y = y[:len(x)]
	var s0, s1 float64
	for i, v := range x {
		d := y[i] - mul(a, v)
		s0, s1 = s1+wide(d, d), s0
	}
	return s0 + s1
}
