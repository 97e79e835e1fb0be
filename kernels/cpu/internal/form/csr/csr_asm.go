//go:build amd64

package csr

import (
	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/sparse"
)

// These functions call kernels by name, not through tables, so that the arguments and the arrays of
// callers stay on the stack.

func rowsKernel[V sparse.Value](a *rowsArgs[V]) {
	switch a := any(a).(type) {
	case *rowsArgs[float64]:
		rowsF64AVX2(a)
	case *rowsArgs[float32]:
		rowsF32AVX2(a)
	}
}

// spreadKernel sets f[k] = alpha*x[r] for each entry k of row r. It returns the number of rows before
// the first one that does not fit in f or has a negative length.
func spreadKernel[V sparse.Value](alpha V, ptr []int64, x, f []V) int {
	switch f := any(f).(type) {
	case []float64:
		return spreadF64AVX2(float64(alpha), ptr, any(x).([]float64), f)
	case []float32:
		return spreadF32AVX2(float32(alpha), ptr, any(x).([]float32), f)
	}
	return 0
}

func rowsTransposedKernel[V sparse.Value](a *rowsTransposedArgs[V]) {
	switch a := any(a).(type) {
	case *rowsTransposedArgs[float64]:
		rowsTransposedF64AVX2(a)
	case *rowsTransposedArgs[float32]:
		rowsTransposedF32AVX2(a)
	}
}

// rowSumsKernel is RowSums. It returns false if a pointer or an index is out of range.
func rowSumsKernel[V sparse.Value](ptr []int64, idx []int32, val, x, sums []V) bool {
	switch sums := any(sums).(type) {
	case []float64:
		return rowSumsF64AVX2(ptr, idx, any(val).([]float64), any(x).([]float64), sums)
	case []float32:
		return rowSumsF32AVX2(ptr, idx, any(val).([]float32), any(x).([]float32), sums)
	}
	return false
}

// manyRows calls the kernel for the level and the bytes of a register.
func manyRows[V sparse.Value](l simd.Level, register int, a *manyArgs[V]) {
	switch a := any(a).(type) {
	case *manyArgs[float64]:
		switch {
		case l < simd.AVX512 && register == form.ShortRegister:
			manyF64AVX2Half(a)
		case l < simd.AVX512:
			manyF64AVX2(a)
		case register == form.ShortRegister:
			manyF64AVX512Quarter(a)
		case register == 2*form.ShortRegister:
			manyF64AVX512Half(a)
		default:
			manyF64AVX512(a)
		}
	case *manyArgs[float32]:
		switch {
		case l < simd.AVX512 && register == form.ShortRegister:
			manyF32AVX2Half(a)
		case l < simd.AVX512:
			manyF32AVX2(a)
		case register == form.ShortRegister:
			manyF32AVX512Quarter(a)
		case register == 2*form.ShortRegister:
			manyF32AVX512Half(a)
		default:
			manyF32AVX512(a)
		}
	}
}

func rowsTransposedMany[V sparse.Value](l simd.Level, a *manyTransposedArgs[V]) {
	switch a := any(a).(type) {
	case *manyTransposedArgs[float64]:
		if l >= simd.AVX512 {
			rowsTransposedManyF64AVX512(a)
		} else {
			rowsTransposedManyF64AVX2(a)
		}
	case *manyTransposedArgs[float32]:
		if l >= simd.AVX512 {
			rowsTransposedManyF32AVX512(a)
		} else {
			rowsTransposedManyF32AVX2(a)
		}
	}
}

func permuteRows[V sparse.Value](l simd.Level, a *permuteArgs[V]) {
	switch a := any(a).(type) {
	case *permuteArgs[float64]:
		if l >= simd.AVX512 {
			permuteRowsF64AVX512(a)
		} else {
			permuteRowsF64AVX2(a)
		}
	case *permuteArgs[float32]:
		if l >= simd.AVX512 {
			permuteRowsF32AVX512(a)
		} else {
			permuteRowsF32AVX2(a)
		}
	}
}

// rowsTransposedByRowKernel is for NEON: it is not called.
func rowsTransposedByRowKernel[V sparse.Value](alpha V, ptr []int64, idx []int32, val, x, y []V, first int) int {
	return 0
}
