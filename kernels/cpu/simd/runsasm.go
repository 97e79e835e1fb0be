//go:build amd64

package simd

import (
	"unsafe"

	"github.com/msrep-go/msrep/sparse"
)

// runsAssembly is MultiplyRuns with AVX-512.
func runsAssembly[V sparse.Value](r *Runs[V], at RunPosition, n int, x, sums []V) {
	groups, first, masks := &r.Groups[at.Group : at.Group+n][0], unsafe.SliceData(r.First[at.Piece:]), unsafe.SliceData(r.Masks[at.Mask:])
	switch val := any(r.Val[at.Entry:]).(type) {
	case []float64:
		runsF64AVX512(n, groups, first, masks, unsafe.SliceData(val), unsafe.SliceData(any(x).([]float64)), &any(sums).([]float64)[0])
	case []float32:
		runsF32AVX512(n, groups, first, masks, unsafe.SliceData(val), unsafe.SliceData(any(x).([]float32)), &any(sums).([]float32)[0])
	}
}
