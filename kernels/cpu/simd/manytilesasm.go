//go:build amd64

package simd

import (
	"unsafe"

	"github.com/msrep-go/msrep/sparse"
)

// The kernels by Level-AVX2.
var (
	manyTileKernels64 = [2]func(n int, entries *uint32, val, x *float64, ldx int, acc *float64, lda, last int){manyTileF64AVX2, manyTileF64AVX512}
	manyTileKernels32 = [2]func(n int, entries *uint32, val, x *float32, ldx int, acc *float32, lda, last int){manyTileF32AVX2, manyTileF32AVX512}
)

// tileManyAssembly is AddTileMany for entries with these values.
func tileManyAssembly[V sparse.Value](l Level, entries []uint32, val []V, x Block[V], acc []V) {
	n, at, lda := len(entries), unsafe.SliceData(entries), registerBytes(l)
	ldx := x.Stride * int(unsafe.Sizeof(*new(V)))
	switch val := any(val).(type) {
	case []float64:
		manyTileKernels64[l-AVX2](n, at, unsafe.SliceData(val), unsafe.SliceData(any(x.Val).([]float64)), ldx, unsafe.SliceData(any(acc).([]float64)), lda, x.Cols)
	case []float32:
		manyTileKernels32[l-AVX2](n, at, unsafe.SliceData(val), unsafe.SliceData(any(x.Val).([]float32)), ldx, unsafe.SliceData(any(acc).([]float32)), lda, x.Cols)
	}
}
