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
// offsets where it is not nil; with near nothing of slices is brought there.
// With one order has the same row for all lanes of a slice, and slices have all lanes.
// ldx and ldy are bytes; last is the elements in the last register of columns.
type manyKernel[V sparse.Value] func(n int, widths *uint32, masks *uint16, first int, val *V, idx *byte, x *V, row, ldx int, y *V, ldy int, order *uint16, rows int, asks *byte, alpha, beta V, last int, reads, stream, near, one bool)

// manyTable is kernels by Level-AVX2, kind, and registers of columns: one of 16, 32, 64 bytes, and then two
// of the longest. Those for diagonals have no shorter ones.
type manyTable[V sparse.Value] [2][4][4]manyKernel[V]

// The kinds of kernels: how they find rows of x.
const (
	manyNarrow = iota
	manyWide
	manyOffsets
	manyConstants
)

// manyTogether is how many lanes of a slice a kernel serves.
func manyTogether(l Level) int {
	if l >= AVX512 {
		return 8
	}
	return 4
}

// assembly is multiply for at most manyVectors registers of columns.
func (s *manyShape[V]) assembly(l Level, alpha, beta V, x, y MultiVector[V], stream bool) {
	size := int(unsafe.Sizeof(alpha))
	kind, val := manyNarrow, s.val
	switch {
	case s.constants != nil:
		kind, val = manyConstants, s.constants
	case s.diagonal:
		kind = manyOffsets
	case s.wide != nil:
		kind = manyWide
	}
	register := registerBytes(l)
	if !s.diagonal {
		register = rowRegister(l, y.Cols*size)
	}
	lanes := register / size
	vectors := (y.Cols + lanes - 1) / lanes
	last := y.Cols - (vectors-1)*lanes
	kernel := of[*manyTable[V]](manyTables)[l-AVX2][kind][register/(2*shortRegister)+vectors-1]
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
			unsafe.SliceData(s.order[first:]), len(s.order)-first, asks, alpha, beta, last, beta != 0, stream, s.near && asks == nil, s.one)
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
