//go:build amd64

package simd

import (
	"unsafe"

	"github.com/msrep-go/msrep/sparse"
)

// assembly is add for a register of columns, or half of one, with AVX-512.
func (s *symmetricRun[V]) assembly(alpha V, x, y Block[V], low int) {
	switch s := any(s).(type) {
	case *symmetricRun[float64]:
		kernel := manySymmetricDiagonalsF64AVX512
		if x.Cols < VectorsAtOnce[float64]() {
			kernel = manySymmetricDiagonalsHalfF64AVX512
		}
		callManySymmetric(kernel, s, float64(alpha), any(x).(Block[float64]), any(y).(Block[float64]), low)
	case *symmetricRun[float32]:
		kernel := manySymmetricDiagonalsF32AVX512
		if x.Cols < VectorsAtOnce[float32]() {
			kernel = manySymmetricDiagonalsHalfF32AVX512
		}
		callManySymmetric(kernel, s, float32(alpha), any(x).(Block[float32]), any(y).(Block[float32]), low)
	}
}

type manySymmetricKernel[V sparse.Value] func(rows, width, before int, masks *uint16, val *V, offsets *int64, x *V, ldx int, y *V, ldy int, alpha V)

func callManySymmetric[V sparse.Value](kernel manySymmetricKernel[V], s *symmetricRun[V], alpha V, x, y Block[V], low int) {
	offsets, before := s.offsets()
	var masks *uint16
	if s.run.Masked {
		masks = &s.d.Masks[s.mask]
	}
	kernel(s.rows, len(offsets), before, masks, &s.d.Values.Full[s.column*s.d.Values.Lanes], &offsets[0],
		&x.From(s.row).Val[0], x.rowBytes(), &y.From(s.row - low).Val[0], y.rowBytes(), alpha)
}

type manySymmetricBlocksKernel[V sparse.Value] func(n int, widths *uint32, masks *uint16, val *V, idx *int32, x *V, ldx int, y *V, ldy, first int, alpha V)

// The kernels by Size-2, for registers and half of them.
var (
	manySymmetricBlocks64 = [2][SymmetricBlockMax - 1]manySymmetricBlocksKernel[float64]{
		{manySymmetricBlocks2F64AVX512, manySymmetricBlocks3F64AVX512, manySymmetricBlocks4F64AVX512, manySymmetricBlocks5F64AVX512, manySymmetricBlocks6F64AVX512},
		{manySymmetricBlocks2HalfF64AVX512, manySymmetricBlocks3HalfF64AVX512, manySymmetricBlocks4HalfF64AVX512, manySymmetricBlocks5HalfF64AVX512, manySymmetricBlocks6HalfF64AVX512},
	}
	manySymmetricBlocks32 = [2][SymmetricBlockMax - 1]manySymmetricBlocksKernel[float32]{
		{manySymmetricBlocks2F32AVX512, manySymmetricBlocks3F32AVX512, manySymmetricBlocks4F32AVX512, manySymmetricBlocks5F32AVX512, manySymmetricBlocks6F32AVX512},
		{manySymmetricBlocks2HalfF32AVX512, manySymmetricBlocks3HalfF32AVX512, manySymmetricBlocks4HalfF32AVX512, manySymmetricBlocks5HalfF32AVX512, manySymmetricBlocks6HalfF32AVX512},
	}
)

// manySymmetricBlocksAssembly is MultiplySymmetricBlocksMany for a register of columns, or
// half of one, with AVX-512.
func manySymmetricBlocksAssembly[V sparse.Value](b *SymmetricBlocks[V], slice, column, n int, alpha V, x, y Block[V], first int) {
	half := 0
	if x.Cols < VectorsAtOnce[V]() {
		half = 1
	}
	switch b := any(b).(type) {
	case *SymmetricBlocks[float64]:
		callManySymmetricBlocks(manySymmetricBlocks64[half][b.Size-2], b, slice, column, n, float64(alpha), any(x).(Block[float64]), any(y).(Block[float64]), first)
	case *SymmetricBlocks[float32]:
		callManySymmetricBlocks(manySymmetricBlocks32[half][b.Size-2], b, slice, column, n, float32(alpha), any(x).(Block[float32]), any(y).(Block[float32]), first)
	}
}

func callManySymmetricBlocks[V sparse.Value](kernel manySymmetricBlocksKernel[V], b *SymmetricBlocks[V], slice, column, n int, alpha V, x, y Block[V], first int) {
	k := column * b.Values.Lanes
	kernel(n, &b.Widths[slice], &b.Masks[column], &b.Values.Full[k*b.Size*b.Size], &b.Idx[k],
		unsafe.SliceData(x.Val), x.rowBytes(), unsafe.SliceData(y.Val), y.rowBytes(), first, alpha)
}

// rowBytes is the bytes from row to row.
func (b Block[V]) rowBytes() int { return b.Stride * int(unsafe.Sizeof(*new(V))) }
