//go:build amd64

package simd

import "github.com/msrep-go/msrep/sparse"

// These are called by name and not through tables, so that their callers' arrays stay on the stack.

// rowsAVX2 does the rows before the first that is out of range, and gives their
// number. work has rowsWork elements. known says that the processor foresees the lengths of
// rows, near that entries are in caches near by.
func rowsAVX2[V sparse.Value](alpha, beta V, ptr []int64, idx []int32, val, x, y, work []V, known, near bool) int {
	switch y := any(y).(type) {
	case []float64:
		return rowsF64AVX2(float64(alpha), float64(beta), ptr, idx, any(val).([]float64), any(x).([]float64), y, any(work).([]float64), known, near)
	case []float32:
		return rowsF32AVX2(float32(alpha), float32(beta), ptr, idx, any(val).([]float32), any(x).([]float32), y, any(work).([]float32), known, near)
	}
	return 0
}

// spreadAVX2 writes alpha*x[r] to f for each entry of row r, and gives the number of
// rows before the first that finds no room or ends before it begins.
func spreadAVX2[V sparse.Value](alpha V, ptr []int64, x, f []V) int {
	switch f := any(f).(type) {
	case []float64:
		return spreadF64AVX2(float64(alpha), ptr, any(x).([]float64), f)
	case []float32:
		return spreadF32AVX2(float32(alpha), ptr, any(x).([]float32), f)
	}
	return 0
}

// scatterAVX2 adds the first n entries, times f each, up to the first that is out of
// range, and gives their number.
func scatterAVX2[V sparse.Value](n int, idx []int32, val, f, y []V, first int, far bool) int {
	switch y := any(y).(type) {
	case []float64:
		return scatterF64AVX2(n, idx, any(val).([]float64), any(f).([]float64), y, first, far)
	case []float32:
		return scatterF32AVX2(n, idx, any(val).([]float32), any(f).([]float32), y, first, far)
	}
	return 0
}

// scatterMany does the entries before the first that has no place, and gives that one.
func scatterMany[V sparse.Value](l Level, alpha V, from int, ptr []int64, idx []int32, val, x, y, spill []V, marks []byte, ldx, ldy, lds, rows, first, done, open, vectors, last, asks int) int {
	switch y := any(y).(type) {
	case []float64:
		val, x, spill := any(val).([]float64), any(x).([]float64), any(spill).([]float64)
		if l >= AVX512 {
			return scatterManyF64AVX512(float64(alpha), from, ptr, idx, val, x, y, spill, marks, ldx, ldy, lds, rows, first, done, open, vectors, last, asks)
		}
		return scatterManyF64AVX2(float64(alpha), from, ptr, idx, val, x, y, spill, marks, ldx, ldy, lds, rows, first, done, open, vectors, last, asks)
	case []float32:
		val, x, spill := any(val).([]float32), any(x).([]float32), any(spill).([]float32)
		if l >= AVX512 {
			return scatterManyF32AVX512(float32(alpha), from, ptr, idx, val, x, y, spill, marks, ldx, ldy, lds, rows, first, done, open, vectors, last, asks)
		}
		return scatterManyF32AVX2(float32(alpha), from, ptr, idx, val, x, y, spill, marks, ldx, ldy, lds, rows, first, done, open, vectors, last, asks)
	}
	return from
}
