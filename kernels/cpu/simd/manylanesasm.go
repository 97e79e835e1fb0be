//go:build amd64

package simd

import (
	"unsafe"

	"github.com/msrep-go/msrep/sparse"
)

// manyKernel multiplies the lanes of n slices from lane first on, as many as are
// summed at once: the arguments are those of manyShape, with val, idx, order and
// masks at the first slice, val, idx and order at lane first. idx has indices in 16
// or 32 bits, or the offsets of diagonals. rows counts the rows of order from there.
// Rows of x are brought to the cache before their turn for indices before asks, and for
// offsets where it is not nil.
// ldx and ldy are bytes; last is the elements in the last register of columns.
type manyKernel[V sparse.Value] func(n int, widths *uint32, masks *uint16, first int, val *V, idx *byte, x *V, row, ldx int, y *V, ldy int, order *uint16, rows int, asks *byte, alpha, beta V, last int, reads, stream bool)

// The kinds of kernels: how they find rows of x.
const (
	manyNarrow = iota
	manyWide
	manyOffsets
	manyConstants
)

// The kernels by Level-AVX2, kind, and registers of columns less one.
var (
	manyKernels64 = [2][4][manyVectors]manyKernel[float64]{
		{
			{manySlices161F64AVX2, manySlices162F64AVX2},
			{manySlices321F64AVX2, manySlices322F64AVX2},
			{manyDiagonals1F64AVX2, manyDiagonals2F64AVX2},
			{manyPerDiagonal1F64AVX2, manyPerDiagonal2F64AVX2},
		}, {
			{manySlices161F64AVX512, manySlices162F64AVX512},
			{manySlices321F64AVX512, manySlices322F64AVX512},
			{manyDiagonals1F64AVX512, manyDiagonals2F64AVX512},
			{manyPerDiagonal1F64AVX512, manyPerDiagonal2F64AVX512},
		},
	}
	manyKernels32 = [2][4][manyVectors]manyKernel[float32]{
		{
			{manySlices161F32AVX2, manySlices162F32AVX2},
			{manySlices321F32AVX2, manySlices322F32AVX2},
			{manyDiagonals1F32AVX2, manyDiagonals2F32AVX2},
			{manyPerDiagonal1F32AVX2, manyPerDiagonal2F32AVX2},
		}, {
			{manySlices161F32AVX512, manySlices162F32AVX512},
			{manySlices321F32AVX512, manySlices322F32AVX512},
			{manyDiagonals1F32AVX512, manyDiagonals2F32AVX512},
			{manyPerDiagonal1F32AVX512, manyPerDiagonal2F32AVX512},
		},
	}
)

// manyTogether is how many lanes of a slice a kernel serves.
func manyTogether(l Level) int {
	if l >= AVX512 {
		return 8
	}
	return 4
}

func (s *manyShape[V]) assembly(l Level, alpha, beta V, x, y Block[V], stream bool) {
	switch s := any(s).(type) {
	case *manyShape[float64]:
		callMany(&manyKernels64[l-AVX2], s, l, float64(alpha), float64(beta), any(x).(Block[float64]), any(y).(Block[float64]), stream)
	case *manyShape[float32]:
		callMany(&manyKernels32[l-AVX2], s, l, float32(alpha), float32(beta), any(x).(Block[float32]), any(y).(Block[float32]), stream)
	}
}

func callMany[V sparse.Value](kernels *[4][manyVectors]manyKernel[V], s *manyShape[V], l Level, alpha, beta V, x, y Block[V], stream bool) {
	size := int(unsafe.Sizeof(alpha))
	lanes := registerBytes(l) / size
	vectors := (y.Cols + lanes - 1) / lanes
	last := y.Cols - (vectors-1)*lanes
	kind, val := manyNarrow, s.val
	switch {
	case s.constants != nil:
		kind, val = manyConstants, s.constants
	case s.diagonal:
		kind = manyOffsets
	case s.wide != nil:
		kind = manyWide
	}
	kernel := kernels[kind][vectors-1]
	for first := 0; first < min(s.lanes, len(s.order)); first += manyTogether(l) {
		var idx, asks *byte
		from, row := val, s.row
		switch kind {
		case manyNarrow:
			idx, asks = indices(s.narrow, first, x.far())
		case manyWide:
			idx, asks = indices(s.wide, first, x.far())
		default:
			idx, row = bytesFrom(s.offsets, 0), row+first
			if x.far() {
				asks = idx
			}
		}
		if kind != manyConstants {
			from = val[min(first, len(val)):]
		}
		kernel(s.n, unsafe.SliceData(s.widths), unsafe.SliceData(s.masks), first, unsafe.SliceData(from), idx,
			unsafe.SliceData(x.Val), row, x.Stride*size, unsafe.SliceData(y.Val), y.Stride*size,
			unsafe.SliceData(s.order[first:]), len(s.order)-first, asks, alpha, beta, last, beta != 0, stream)
	}
}

// manyAhead is how many entries before its turn a kernel asks for a row of x.
const manyAhead = 32

// indices is where the indices from one on begin, and where those begin that have
// fewer than a kernel looks ahead behind them: nowhere if it need not.
func indices[I uint16 | int32](idx []I, from int, far bool) (at, asks *byte) {
	at = bytesFrom(idx, min(from, len(idx)))
	if far && len(idx) >= manyAhead+16 {
		asks = bytesFrom(idx, len(idx)-manyAhead-15)
	}
	return at, asks
}

var (
	expand64 = [2][storages]func(n int, val *byte, table, out *float64, next uintptr, step int){
		{Short: expandShortF64AVX2, Table: expandTableF64AVX2, High32: expandHigh32F64AVX2, High16: expandHigh16F64AVX2},
		{Short: expandShortF64AVX512, Table: expandTableF64AVX512, High32: expandHigh32F64AVX512, High16: expandHigh16F64AVX512, Bits57: expandBits57F64AVX512},
	}
	expand32 = [2][storages]func(n int, val *byte, table, out *float32, next uintptr, step int){
		{Table: expandTableF32AVX2, High16: expandHigh16F32AVX2},
		{Table: expandTableF32AVX512, High16: expandHigh16F32AVX512},
	}
)

// expandAssembly is the n columns of values from column c on, at full length. It asks for
// so many bytes of those behind for each column.
func expandAssembly[V sparse.Value](l Level, v *Values[V], c, n int, out []V, asks int) {
	next := v.address(c + n)
	switch v := any(v).(type) {
	case *Values[float64]:
		expand64[l-AVX2][v.Storage](n, v.from(c), v.table(c), unsafe.SliceData(any(out).([]float64)), next, asks)
	case *Values[float32]:
		expand32[l-AVX2][v.Storage](n, v.from(c), v.table(c), unsafe.SliceData(any(out).([]float32)), next, asks)
	}
}
