//go:build amd64

package simd

import (
	"unsafe"

	"github.com/msrep-go/msrep/sparse"
)

type manyTileKernel[V sparse.Value] func(n, more int, entries *uint32, val, x *V, ldx int, acc *V, lda, last int, next *uint32, nextX *V)

// The kernels by the bytes of a row of sums: 16, 32, 64.
var (
	manyTileKernels64 = [...]manyTileKernel[float64]{manyTileF64AVX2Half, manyTileF64AVX2, manyTileF64AVX512}
	manyTileKernels32 = [...]manyTileKernel[float32]{manyTileF32AVX2Half, manyTileF32AVX2, manyTileF32AVX512}
)

// tileManyAssembly is AddTileMany for entries with these values; more entries can be read
// behind them. What as many later ones read of nextX is asked for.
func tileManyAssembly[V sparse.Value](l Level, entries []uint32, more int, later []uint32, val []V, x, nextX Block[V], acc []V) {
	size := int(unsafe.Sizeof(*new(V)))
	lda := TileColumns[V](l, x.Cols) * size
	kernel := lda / (2 * shortRegister) // 0, 1, 2
	switch val := any(val).(type) {
	case []float64:
		callTileMany(manyTileKernels64[kernel], entries, more, later, val, any(x).(Block[float64]), any(nextX).(Block[float64]), any(acc).([]float64), lda)
	case []float32:
		callTileMany(manyTileKernels32[kernel], entries, more, later, val, any(x).(Block[float32]), any(nextX).(Block[float32]), any(acc).([]float32), lda)
	}
}

func callTileMany[V sparse.Value](kernel manyTileKernel[V], entries []uint32, more int, later []uint32, val []V, x, nextX Block[V], acc []V, lda int) {
	var next *uint32
	if len(later) > 0 {
		next = &later[0]
	}
	kernel(len(entries), more, unsafe.SliceData(entries), unsafe.SliceData(val), unsafe.SliceData(x.Val), x.Stride*int(unsafe.Sizeof(*new(V))),
		unsafe.SliceData(acc), lda, x.Cols, next, unsafe.SliceData(nextX.Val))
}
