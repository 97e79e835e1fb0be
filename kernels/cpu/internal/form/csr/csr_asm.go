//go:build amd64

package csr

import (
	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/sparse"
)

// These functions call kernels by name, not through tables, so that the arrays of callers stay on
// the stack.

// rowsAVX2 computes the rows before the first one that is out of range, and returns their number.
// work has rowsWork elements. predicted says that the processor predicts the lengths of rows, near
// that entries are in the caches.
func rowsAVX2[V sparse.Value](alpha, beta V, ptr []int64, idx []int32, val, x, y, work []V, predicted, near bool) int {
	switch y := any(y).(type) {
	case []float64:
		return rowsF64AVX2(float64(alpha), float64(beta), ptr, idx, any(val).([]float64), any(x).([]float64), y, any(work).([]float64), predicted, near)
	case []float32:
		return rowsF32AVX2(float32(alpha), float32(beta), ptr, idx, any(val).([]float32), any(x).([]float32), y, any(work).([]float32), predicted, near)
	}
	return 0
}

// spreadAVX2 sets f[k] = alpha*x[r] for each entry k of row r. It returns the number of rows before
// the first one that does not fit in f or has a negative length.
func spreadAVX2[V sparse.Value](alpha V, ptr []int64, x, f []V) int {
	switch f := any(f).(type) {
	case []float64:
		return spreadF64AVX2(float64(alpha), ptr, any(x).([]float64), f)
	case []float32:
		return spreadF32AVX2(float32(alpha), ptr, any(x).([]float32), f)
	}
	return 0
}

// rowsTransposedAVX2 computes y[idx[k]-first] += val[k]*f[k] for k < n, up to the first index out of
// range, and returns the number of entries done.
func rowsTransposedAVX2[V sparse.Value](n int, idx []int32, val, f, y []V, first int, far bool) int {
	switch y := any(y).(type) {
	case []float64:
		return rowsTransposedF64AVX2(n, idx, any(val).([]float64), any(f).([]float64), y, first, far)
	case []float32:
		return rowsTransposedF32AVX2(n, idx, any(val).([]float32), any(f).([]float32), y, first, far)
	}
	return 0
}

// rowsTransposedMany is RowsTransposedMany. It returns the first entry without a place.
func rowsTransposedMany[V sparse.Value](l simd.Level, alpha V, from int, ptr []int64, idx []int32, val, x, y, spill []V, marks []byte, ldx, ldy, lds, rows, first, done, open, vectors, last, prefetchEnd int) int {
	switch y := any(y).(type) {
	case []float64:
		val, x, spill := any(val).([]float64), any(x).([]float64), any(spill).([]float64)
		if l >= simd.AVX512 {
			return rowsTransposedManyF64AVX512(float64(alpha), from, ptr, idx, val, x, y, spill, marks, ldx, ldy, lds, rows, first, done, open, vectors, last, prefetchEnd)
		}
		return rowsTransposedManyF64AVX2(float64(alpha), from, ptr, idx, val, x, y, spill, marks, ldx, ldy, lds, rows, first, done, open, vectors, last, prefetchEnd)
	case []float32:
		val, x, spill := any(val).([]float32), any(x).([]float32), any(spill).([]float32)
		if l >= simd.AVX512 {
			return rowsTransposedManyF32AVX512(float32(alpha), from, ptr, idx, val, x, y, spill, marks, ldx, ldy, lds, rows, first, done, open, vectors, last, prefetchEnd)
		}
		return rowsTransposedManyF32AVX2(float32(alpha), from, ptr, idx, val, x, y, spill, marks, ldx, ldy, lds, rows, first, done, open, vectors, last, prefetchEnd)
	}
	return from
}
