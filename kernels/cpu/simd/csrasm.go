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
