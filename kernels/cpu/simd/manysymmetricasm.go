//go:build amd64

package simd

import (
	"unsafe"

	"github.com/msrep-go/msrep/sparse"
)

// manySymmetricKernel multiplies a run; it is made for so many columns.
type manySymmetricKernel[V sparse.Value] func(rows, width, before int, masks *uint16, val *V, offsets *int64, x *V, ldx int, y *V, ldy int, alpha V)

// symmetricColumns is a kind of kernels: the columns that they take.
type symmetricColumns int

const (
	ofAVX2     symmetricColumns = iota // a register
	ofAVX512                           // a register
	halfAVX512                         // half of one
)

// columnsOf is the kind of kernels for so many columns, as symmetricPanel says.
func columnsOf[V sparse.Value](l Level, cols int) symmetricColumns {
	switch {
	case l == AVX2:
		return ofAVX2
	case cols < VectorsAtOnce[V]():
		return halfAVX512
	}
	return ofAVX512
}

var (
	manySymmetricDiagonals64 = [...]manySymmetricKernel[float64]{
		ofAVX2: manySymmetricDiagonalsF64AVX2, ofAVX512: manySymmetricDiagonalsF64AVX512, halfAVX512: manySymmetricDiagonalsHalfF64AVX512,
	}
	manySymmetricDiagonals32 = [...]manySymmetricKernel[float32]{
		ofAVX2: manySymmetricDiagonalsF32AVX2, ofAVX512: manySymmetricDiagonalsF32AVX512, halfAVX512: manySymmetricDiagonalsHalfF32AVX512,
	}
)

// assembly is add for as many columns as symmetricPanel says.
func (s *symmetricRun[V]) assembly(l Level, alpha V, x, y Block[V], low int) {
	kind := columnsOf[V](l, x.Cols)
	switch s := any(s).(type) {
	case *symmetricRun[float64]:
		callManySymmetric(manySymmetricDiagonals64[kind], s, float64(alpha), any(x).(Block[float64]), any(y).(Block[float64]), low)
	case *symmetricRun[float32]:
		callManySymmetric(manySymmetricDiagonals32[kind], s, float32(alpha), any(x).(Block[float32]), any(y).(Block[float32]), low)
	}
}

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

// The kernels by columns and Size-2.
var (
	manySymmetricBlocks64 = [...][SymmetricBlockMax - 1]manySymmetricBlocksKernel[float64]{
		ofAVX2:     {manySymmetricBlocks2F64AVX2, manySymmetricBlocks3F64AVX2, manySymmetricBlocks4F64AVX2, manySymmetricBlocks5F64AVX2, manySymmetricBlocks6F64AVX2},
		ofAVX512:   {manySymmetricBlocks2F64AVX512, manySymmetricBlocks3F64AVX512, manySymmetricBlocks4F64AVX512, manySymmetricBlocks5F64AVX512, manySymmetricBlocks6F64AVX512},
		halfAVX512: {manySymmetricBlocks2HalfF64AVX512, manySymmetricBlocks3HalfF64AVX512, manySymmetricBlocks4HalfF64AVX512, manySymmetricBlocks5HalfF64AVX512, manySymmetricBlocks6HalfF64AVX512},
	}
	manySymmetricBlocks32 = [...][SymmetricBlockMax - 1]manySymmetricBlocksKernel[float32]{
		ofAVX2:     {manySymmetricBlocks2F32AVX2, manySymmetricBlocks3F32AVX2, manySymmetricBlocks4F32AVX2, manySymmetricBlocks5F32AVX2, manySymmetricBlocks6F32AVX2},
		ofAVX512:   {manySymmetricBlocks2F32AVX512, manySymmetricBlocks3F32AVX512, manySymmetricBlocks4F32AVX512, manySymmetricBlocks5F32AVX512, manySymmetricBlocks6F32AVX512},
		halfAVX512: {manySymmetricBlocks2HalfF32AVX512, manySymmetricBlocks3HalfF32AVX512, manySymmetricBlocks4HalfF32AVX512, manySymmetricBlocks5HalfF32AVX512, manySymmetricBlocks6HalfF32AVX512},
	}
)

// manySymmetricBlocksAssembly is MultiplySymmetricBlocksMany for as many columns as
// symmetricPanel says.
func manySymmetricBlocksAssembly[V sparse.Value](l Level, b *SymmetricBlocks[V], slice, column, n int, alpha V, x, y Block[V], first int) {
	kind := columnsOf[V](l, x.Cols)
	switch b := any(b).(type) {
	case *SymmetricBlocks[float64]:
		callManySymmetricBlocks(manySymmetricBlocks64[kind][b.Size-2], b, slice, column, n, float64(alpha), any(x).(Block[float64]), any(y).(Block[float64]), first)
	case *SymmetricBlocks[float32]:
		callManySymmetricBlocks(manySymmetricBlocks32[kind][b.Size-2], b, slice, column, n, float32(alpha), any(x).(Block[float32]), any(y).(Block[float32]), first)
	}
}

func callManySymmetricBlocks[V sparse.Value](kernel manySymmetricBlocksKernel[V], b *SymmetricBlocks[V], slice, column, n int, alpha V, x, y Block[V], first int) {
	k := column * b.Values.Lanes
	kernel(n, &b.Widths[slice], &b.Masks[column], &b.Values.Full[k*b.Size*b.Size], &b.Idx[k],
		unsafe.SliceData(x.Val), x.rowBytes(), unsafe.SliceData(y.Val), y.rowBytes(), first, alpha)
}

// rowBytes is the bytes from row to row.
func (b Block[V]) rowBytes() int { return b.Stride * int(unsafe.Sizeof(*new(V))) }
