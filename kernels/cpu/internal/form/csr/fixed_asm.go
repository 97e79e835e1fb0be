//go:build amd64

package csr

import "github.com/msrep-go/msrep/sparse"

// rowSumsAVX2 is RowSums. It returns false if a pointer or an index is out of range.
func rowSumsAVX2[V sparse.Value](ptr []int64, idx []int32, val, x, sums []V) bool {
	switch sums := any(sums).(type) {
	case []float64:
		return rowSumsF64AVX2(ptr, idx, any(val).([]float64), any(x).([]float64), sums)
	case []float32:
		return rowSumsF32AVX2(ptr, idx, any(val).([]float32), any(x).([]float32), sums)
	}
	return false
}
