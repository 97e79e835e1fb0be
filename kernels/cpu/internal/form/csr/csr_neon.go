//go:build arm64

package csr

import (
	"unsafe"

	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/sparse"
)

// As in csr_asm.go, these functions call kernels by name.

func rowsKernel[V sparse.Value](a *rowsArgs[V]) {
	a.entries = entriesOf(a.ptr, a.rows, a.entries)
	switch a := any(a).(type) {
	case *rowsArgs[float64]:
		rowsF64NEON(a)
	case *rowsArgs[float32]:
		rowsF32NEON(a)
	}
}

// entriesOf returns the number of entries of rows, or all if that is no number of entries. Kernels check the indices of
// all entries that they know of.
func entriesOf(ptr *int64, rows, all int) int {
	p := unsafe.Slice(ptr, rows+1)
	if n := int(p[rows] - p[0]); n >= 0 && n < all {
		return n
	}
	return all
}

// rowSumsKernel is RowSums. It returns false if a pointer or an index is out of range.
func rowSumsKernel[V sparse.Value](ptr []int64, idx []int32, val, x, sums []V) bool {
	switch sums := any(sums).(type) {
	case []float64:
		return rowSumsF64NEON(ptr, idx, any(val).([]float64), any(x).([]float64), sums)
	case []float32:
		return rowSumsF32NEON(ptr, idx, any(val).([]float32), any(x).([]float32), sums)
	}
	return false
}

// rowsTransposedByRowKernel adds rows times alpha and an element of x each to y. It returns the number of rows before
// the first one that has an element outside y or a pointer out of range.
func rowsTransposedByRowKernel[V sparse.Value](alpha V, ptr []int64, idx []int32, val, x, y []V, first int) int {
	switch y := any(y).(type) {
	case []float64:
		return rowsTransposedF64NEON(float64(alpha), ptr, idx, any(val).([]float64), any(x).([]float64), y, first)
	case []float32:
		return rowsTransposedF32NEON(float32(alpha), ptr, idx, any(val).([]float32), any(x).([]float32), y, first)
	}
	return 0
}

// manyRows calls the kernel for the number of registers: 1, 2 or 4.
func manyRows[V sparse.Value](l simd.Level, register int, a *manyArgs[V]) {
	a.entries = entriesOf(a.ptr, a.pointers-1, a.entries)
	switch a := any(a).(type) {
	case *manyArgs[float64]:
		switch a.vectors {
		case 1:
			many1F64NEON(a)
		case 2:
			many2F64NEON(a)
		default:
			many4F64NEON(a)
		}
	case *manyArgs[float32]:
		switch a.vectors {
		case 1:
			many1F32NEON(a)
		case 2:
			many2F32NEON(a)
		default:
			many4F32NEON(a)
		}
	}
}

// There is no assembly for the others: none is called.

func spreadKernel[V sparse.Value](alpha V, ptr []int64, x, f []V) int { return 0 }

func rowsTransposedKernel[V sparse.Value](a *rowsTransposedArgs[V]) {}

func rowsTransposedMany[V sparse.Value](l simd.Level, a *manyTransposedArgs[V]) {}

func permuteRows[V sparse.Value](l simd.Level, a *permuteArgs[V]) {}
