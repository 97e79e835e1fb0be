//go:build amd64

package simd

import (
	"unsafe"

	"github.com/msrep-go/msrep/sparse"
)

// copyLinesAssembly is CopyLines for one line or more.
func copyLinesAssembly[V sparse.Value](lines []int32, x, to []V) {
	copyLinesAVX2(bytesFrom(x, 0), bytesFrom(to, 0), unsafe.SliceData(lines), len(lines))
}

// addLinesAssembly is AddLines for one line or more.
func addLinesAssembly[V sparse.Value](lines []int32, from, y []V) {
	switch y := any(y).(type) {
	case []float64:
		addLinesF64AVX2(unsafe.SliceData(y), unsafe.SliceData(any(from).([]float64)), unsafe.SliceData(lines), len(lines))
	case []float32:
		addLinesF32AVX2(unsafe.SliceData(y), unsafe.SliceData(any(from).([]float32)), unsafe.SliceData(lines), len(lines))
	}
}
