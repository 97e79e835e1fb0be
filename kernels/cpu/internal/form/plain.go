package form

import (
	"unsafe"

	"github.com/msrep-go/msrep/sparse"
)

// The inner loops of slices, diagonals and blocks in plain Go. Processors without AVX2 have only
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
