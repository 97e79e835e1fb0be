package simd

import (
	"unsafe"

	"github.com/msrep-go/msrep/sparse"
)

// manySymmetricTable has kernels of runs of diagonals, by Level-AVX2 of the registers that the
// columns fill.
type manySymmetricTable[V sparse.Value] [2]func(lanes, rows, width, before int, masks *uint16, val *V, offsets *int64, x *V, ldx int, y *V, ldy int, alpha V)

// manySymmetricBlockTable has kernels by the same and by Size-2.
type manySymmetricBlockTable[V sparse.Value] [2][SymmetricBlockMax - 1]func(lanes, n int, widths *uint32, masks *uint16, val *V, idx *int32, x *V, ldx int, y *V, ldy, first int, alpha V)

// filled returns Level-AVX2 of the registers that cols columns fill; see symmetricPanel.
func filled[V sparse.Value](cols int) int { return cols / VectorsAtOnce[V]() }

// assembly is add for symmetricPanel columns.
func (s *symmetricRun[V]) assembly(alpha V, x, y MultiVector[V], low int) {
	offsets, before := s.offsets()
	lanes := s.d.Values.Lanes
	kernel := forType[*manySymmetricTable[V]](manySymmetricTables)[filled[V](x.Cols)]
	kernel(lanes, s.rows, len(offsets), before, s.d.masks(s.run, s.mask), &s.d.Values.Full[s.column*lanes], &offsets[0],
		&x.From(s.row).Val[0], x.rowBytes(), &y.From(s.row - low).Val[0], y.rowBytes(), alpha)
}

// assemblyMany is MultiplySymmetricBlocksMany for symmetricPanel columns.
func (b *SymmetricBlocks[V]) assemblyMany(slice, column, n int, alpha V, x, y MultiVector[V], first int) {
	k := column * b.Values.Lanes
	kernel := forType[*manySymmetricBlockTable[V]](manySymmetricBlockTables)[filled[V](x.Cols)][b.Size-2]
	kernel(b.Values.Lanes, n, &b.Widths[slice], &b.Masks[column], &b.Values.Full[k*b.Size*b.Size], &b.Idx[k],
		unsafe.SliceData(x.Val), x.rowBytes(), unsafe.SliceData(y.Val), y.rowBytes(), first, alpha)
}

// rowBytes returns the bytes from one row to the next.
func (b MultiVector[V]) rowBytes() int { return b.Stride * int(unsafe.Sizeof(*new(V))) }
