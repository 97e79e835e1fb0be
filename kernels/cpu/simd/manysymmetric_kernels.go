package simd

import (
	"unsafe"

	"github.com/msrep-go/msrep/sparse"
)

// symmetricColumns is a kind of kernels: the columns that they take.
type symmetricColumns int

const (
	ofAVX2      symmetricColumns = iota // a register
	ofAVX512                            // a register
	halfAVX512                          // half of one
	columnKinds                         // their number
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

// manySymmetricTable is kernels of runs of diagonals, by columns.
type manySymmetricTable[V sparse.Value] [columnKinds]func(rows, width, before int, masks *uint16, val *V, offsets *int64, x *V, ldx int, y *V, ldy int, alpha V)

// manySymmetricBlockTable is kernels by columns and Size-2.
type manySymmetricBlockTable[V sparse.Value] [columnKinds][SymmetricBlockMax - 1]func(n int, widths *uint32, masks *uint16, val *V, idx *int32, x *V, ldx int, y *V, ldy, first int, alpha V)

// assembly is add for as many columns as symmetricPanel says.
func (s *symmetricRun[V]) assembly(l Level, alpha V, x, y Block[V], low int) {
	offsets, before := s.offsets()
	kernel := of[*manySymmetricTable[V]](manySymmetricTables)[columnsOf[V](l, x.Cols)]
	kernel(s.rows, len(offsets), before, s.d.masks(s.run, s.mask), &s.d.Values.Full[s.column*s.d.Values.Lanes], &offsets[0],
		&x.From(s.row).Val[0], x.rowBytes(), &y.From(s.row - low).Val[0], y.rowBytes(), alpha)
}

// assemblyMany is MultiplySymmetricBlocksMany for as many columns as symmetricPanel says.
func (b *SymmetricBlocks[V]) assemblyMany(l Level, slice, column, n int, alpha V, x, y Block[V], first int) {
	k := column * b.Values.Lanes
	kernel := of[*manySymmetricBlockTable[V]](manySymmetricBlockTables)[columnsOf[V](l, x.Cols)][b.Size-2]
	kernel(n, &b.Widths[slice], &b.Masks[column], &b.Values.Full[k*b.Size*b.Size], &b.Idx[k],
		unsafe.SliceData(x.Val), x.rowBytes(), unsafe.SliceData(y.Val), y.rowBytes(), first, alpha)
}

// rowBytes is the bytes from row to row.
func (b Block[V]) rowBytes() int { return b.Stride * int(unsafe.Sizeof(*new(V))) }
