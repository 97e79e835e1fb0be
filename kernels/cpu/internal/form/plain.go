package form

import (
	"math"
	"unsafe"

	"github.com/msrep-go/msrep/sparse"
)

// The inner loops of slices, diagonals and blocks in plain Go. Processors without assembly have only
// these. They sum eight lanes at a time, each in a variable of its own: the compiler keeps these in
// registers, and consecutive additions are independent.

// Unrolled is the number of lanes that a loop sums at once.
const Unrolled = 8

// Skip returns the address n elements after p.
func Skip[T any](p unsafe.Pointer, n int) unsafe.Pointer {
	var t T
	return unsafe.Add(p, n*int(unsafe.Sizeof(t)))
}

// Element returns element i of the array at p.
func Element[V sparse.Value, I uint16 | int32](p *V, i I) V {
	return *(*V)(unsafe.Add(unsafe.Pointer(p), int(i)*int(unsafe.Sizeof(*p))))
}

// FMA returns a*b + c, rounded once.
func FMA[V sparse.Value](a, b, c V) V {
	if _, single := any(a).(float32); single {
		return V(fma32(float32(a), float32(b), float32(c)))
	}
	return V(math.FMA(float64(a), float64(b), float64(c)))
}

// fma32 rounds the sum to odd in float64, which has more than twice the bits of float32. Rounding
// this to float32 gives the result of one rounding (Boldo and Melquiond, 2008).
func fma32(a, b, c float32) float32 {
	p, d := float64(a)*float64(b), float64(c) // the product is exact
	s := p + d
	v := s - p
	e := (p - (s - v)) + (d - v) // s + e is the exact sum (Knuth)
	bits := math.Float64bits(s)
	if e != 0 && bits&1 == 0 && !math.IsInf(s, 0) && !math.IsNaN(s) {
		if (e > 0) == (s > 0) {
			bits++
		} else {
			bits--
		}
		s = math.Float64frombits(bits)
	}
	return float32(s)
}

// MulAdd returns a*b + c, rounded once, as in assembly, if fused is set, and as is fastest in plain
// Go otherwise.
func MulAdd[V sparse.Value](fused bool, a, b, c V) V {
	if fused {
		return FMA(a, b, c)
	}
	return a*b + c
}
