//go:build amd64

package dense

import (
	"unsafe"

	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/sparse"
)

// Kernels are called by name: arguments of a call through a table would escape to the heap.

// subtract runs the kernel of a product.
func subtract[V sparse.Value](l simd.Level, a *productArgs[V]) {
	double, single := (*productArgs[float64])(unsafe.Pointer(a)), (*productArgs[float32])(unsafe.Pointer(a))
	switch {
	case l == simd.AVX512 && isDouble[V]():
		subtractF64AVX512(double)
	case l == simd.AVX512:
		subtractF32AVX512(single)
	case isDouble[V]():
		subtractF64AVX2(double)
	default:
		subtractF32AVX2(single)
	}
}

// triangle runs the kernel of a product of which only the lower triangle is wanted.
func triangle[V sparse.Value](l simd.Level, a *productArgs[V]) {
	double, single := (*productArgs[float64])(unsafe.Pointer(a)), (*productArgs[float32])(unsafe.Pointer(a))
	switch {
	case l == simd.AVX512 && isDouble[V]():
		triangleF64AVX512(double)
	case l == simd.AVX512:
		triangleF32AVX512(single)
	case isDouble[V]():
		triangleF64AVX2(double)
	default:
		triangleF32AVX2(single)
	}
}

// right runs the kernel of rightSolve.
func right[V sparse.Value](l simd.Level, a *rightArgs[V]) {
	double, single := (*rightArgs[float64])(unsafe.Pointer(a)), (*rightArgs[float32])(unsafe.Pointer(a))
	switch {
	case l == simd.AVX512 && isDouble[V]():
		rightF64AVX512(double)
	case l == simd.AVX512:
		rightF32AVX512(single)
	case isDouble[V]():
		rightF64AVX2(double)
	default:
		rightF32AVX2(single)
	}
}

// left runs the kernel of LowerUnitSolve.
func left[V sparse.Value](l simd.Level, a *leftArgs[V]) {
	double, single := (*leftArgs[float64])(unsafe.Pointer(a)), (*leftArgs[float32])(unsafe.Pointer(a))
	switch {
	case l == simd.AVX512 && isDouble[V]():
		leftF64AVX512(double)
	case l == simd.AVX512:
		leftF32AVX512(single)
	case isDouble[V]():
		leftF64AVX2(double)
	default:
		leftF32AVX2(single)
	}
}

// dots runs the kernel of GemmTN.
func dots[V sparse.Value](l simd.Level, a *dotsArgs[V]) {
	double, single := (*dotsArgs[float64])(unsafe.Pointer(a)), (*dotsArgs[float32])(unsafe.Pointer(a))
	switch {
	case l == simd.AVX512 && isDouble[V]():
		dotsF64AVX512(double)
	case l == simd.AVX512:
		dotsF32AVX512(single)
	case isDouble[V]():
		dotsF64AVX2(double)
	default:
		dotsF32AVX2(single)
	}
}

func isDouble[V sparse.Value]() bool { return unsafe.Sizeof(*new(V)) == 8 }
