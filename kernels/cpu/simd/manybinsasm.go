//go:build amd64

package simd

import (
	"unsafe"

	"github.com/msrep-go/msrep/sparse"
)

type manyBinKernel[V sparse.Value] func(n, more, asks int, from, to *uint16, val, x *V, ldx int, sums *V, last int, later *uint16, laterX *V, soonFrom *uint16, soonVal *byte, step int)

// manyBinAssembly is AddMany for n entries with these values. Rows of ahead.X for asks rounds are
// asked for, and meanwhile what lies at soonFrom, and at soonVal, where a round has step bytes.
func manyBinAssembly[V sparse.Value](l Level, n, more, asks int, from, to []uint16, val []V, x Block[V], sums []V, ahead BinAhead[V], soonFrom []uint16, soonVal *byte, step int) {
	switch val := any(val).(type) {
	case []float64:
		kernel := manyBinF64AVX2
		switch {
		case BinColumns[V](x.Cols) == 4:
		case l >= AVX512:
			kernel = manyBinF64AVX512
		default:
			kernel = manyBinF64AVX2Two
		}
		callManyBin(kernel, l, n, more, asks, from, to, val, any(x).(Block[float64]), any(sums).([]float64), ahead.Rows, any(ahead.X).(Block[float64]), soonFrom, soonVal, step)
	case []float32:
		kernel := manyBinF32AVX2
		switch {
		case BinColumns[V](x.Cols) == 8:
		case l >= AVX512:
			kernel = manyBinF32AVX512
		default:
			kernel = manyBinF32AVX2Two
		}
		callManyBin(kernel, l, n, more, asks, from, to, val, any(x).(Block[float32]), any(sums).([]float32), ahead.Rows, any(ahead.X).(Block[float32]), soonFrom, soonVal, step)
	}
}

func callManyBin[V sparse.Value](kernel manyBinKernel[V], l Level, n, more, asks int, from, to []uint16, val []V, x Block[V], sums []V, later []uint16, laterX Block[V], soonFrom []uint16, soonVal *byte, step int) {
	size := int(unsafe.Sizeof(*new(V)))
	last := x.Cols // of the last register
	if l < AVX512 || BinColumns[V](x.Cols)*size == registerBytes(AVX2) {
		lanes := registerBytes(AVX2) / size
		last = (x.Cols-1)%lanes + 1
	}
	kernel(n, more, asks, unsafe.SliceData(from), unsafe.SliceData(to), unsafe.SliceData(val), unsafe.SliceData(x.Val), x.Stride*size,
		unsafe.SliceData(sums), last, unsafe.SliceData(later), unsafe.SliceData(laterX.Val), unsafe.SliceData(soonFrom), soonVal, step)
}
