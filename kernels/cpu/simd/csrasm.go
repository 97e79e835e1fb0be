//go:build amd64

package simd

import "github.com/msrep-go/msrep/sparse"

// rowsAVX2 does the rows before the first that is out of range, and gives their
// number.
func rowsAVX2[V sparse.Value](alpha, beta V, ptr []int64, idx []int32, val, x, y []V) int {
	switch y := any(y).(type) {
	case []float64:
		return rowsF64AVX2(float64(alpha), float64(beta), ptr, idx, any(val).([]float64), any(x).([]float64), y)
	case []float32:
		return rowsF32AVX2(float32(alpha), float32(beta), ptr, idx, any(val).([]float32), any(x).([]float32), y)
	}
	return 0
}

// scatterAVX2 adds the entries before the first that is out of range, and gives
// their number.
func scatterAVX2[V sparse.Value](alpha V, ptr []int64, idx []int32, val, x, y []V, first int, far bool) int {
	switch y := any(y).(type) {
	case []float64:
		return scatterF64AVX2(float64(alpha), ptr, idx, any(val).([]float64), any(x).([]float64), y, first, far)
	case []float32:
		return scatterF32AVX2(float32(alpha), ptr, idx, any(val).([]float32), any(x).([]float32), y, first, far)
	}
	return 0
}

// manyRows does the rows before the first that is out of range, and gives their
// number.
func manyRows[V sparse.Value](l Level, alpha, beta V, ptr []int64, idx []int32, val, x, y []V, rowsX, ldx, ldy, vectors, last, asks int, stream bool) int {
	switch y := any(y).(type) {
	case []float64:
		if l >= AVX512 {
			return manyF64AVX512(float64(alpha), float64(beta), ptr, idx, any(val).([]float64), any(x).([]float64), y, rowsX, ldx, ldy, vectors, last, asks, stream)
		}
		return manyF64AVX2(float64(alpha), float64(beta), ptr, idx, any(val).([]float64), any(x).([]float64), y, rowsX, ldx, ldy, vectors, last, asks, stream)
	case []float32:
		if l >= AVX512 {
			return manyF32AVX512(float32(alpha), float32(beta), ptr, idx, any(val).([]float32), any(x).([]float32), y, rowsX, ldx, ldy, vectors, last, asks, stream)
		}
		return manyF32AVX2(float32(alpha), float32(beta), ptr, idx, any(val).([]float32), any(x).([]float32), y, rowsX, ldx, ldy, vectors, last, asks, stream)
	}
	return 0
}
