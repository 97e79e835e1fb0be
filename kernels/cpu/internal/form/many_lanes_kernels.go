package form

import (
	"unsafe"

	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/sparse"
)

// manyKernel multiplies manyTogether lanes of slices.
type manyKernel[V sparse.Value] func(*ManyArgs[V])

// manyTable has kernels by Level-AVX2, kind, and registers of columns: one of 16, 32 or 64 bytes,
// then two of the longest. Diagonals have no kernels with shorter registers.
type manyTable[V sparse.Value] [2][4][4]manyKernel[V]

// The kinds of kernels: how they find rows of x.
const (
	manyNarrow = iota
	manyWide
	manyOffsets
	manyConstants
)

// manyTogether returns the number of lanes of a slice that a kernel multiplies.
func manyTogether(l simd.Level) int {
	if l >= simd.AVX512 {
		return 8
	}
	return 4
}

// assembly is multiply for at most manyVectors registers of columns.
func (s *ManyShape[V]) assembly(l simd.Level, alpha, beta V, x, y MultiVector[V], stream bool) {
	size := int(unsafe.Sizeof(alpha))
	kind, val := manyNarrow, s.Val
	switch {
	case s.Constants != nil:
		kind, val = manyConstants, s.Constants
	case s.Diagonal:
		kind = manyOffsets
	case s.Wide != nil:
		kind = manyWide
	}
	register := simd.RegisterBytes(l)
	if !s.Diagonal {
		register = RowRegister(l, y.Cols*size)
	}
	lanes := register / size
	vectors := (y.Cols + lanes - 1) / lanes
	last := y.Cols - (vectors-1)*lanes
	kernel := simd.ForType[*manyTable[V]](manyTables)[l-simd.AVX2][kind][register/(2*ShortRegister)+vectors-1]
	for first := 0; first < min(s.Lanes, len(s.Order)); first += manyTogether(l) {
		var idx, prefetchEnd *byte
		from, row := val, s.Row
		switch kind {
		case manyNarrow:
			idx, prefetchEnd = indices(s.Narrow, first, x.far())
		case manyWide:
			idx, prefetchEnd = indices(s.Wide, first, x.far())
		default:
			idx, row = BytesFrom(s.Offsets, 0), row+first
			if x.far() {
				prefetchEnd = idx
			}
		}
		if kind != manyConstants {
			from = val[min(first, len(val)):]
		}
		a := s.Args
		a.n, a.widths, a.masks = s.N, unsafe.SliceData(s.Widths), unsafe.SliceData(s.Masks)
		a.first, a.val, a.idx = first, unsafe.SliceData(from), idx
		a.x, a.row, a.ldx = unsafe.SliceData(x.Val), row, x.Stride*size
		a.y, a.ldy, a.order = unsafe.SliceData(y.Val), y.Stride*size, unsafe.SliceData(s.Order[first:])
		a.rows, a.prefetchEnd, a.last = len(s.Order)-first, prefetchEnd, last
		a.reads, a.stream, a.near = AsInt(beta != 0), AsInt(stream), AsInt(s.Near && prefetchEnd == nil)
		a.one, a.alpha, a.beta = AsInt(s.One), alpha, beta
		kernel(a)
	}
	s.Args.x, s.Args.y, s.Args.val = nil, nil, nil
}

// manyAhead is the number of entries by which a kernel prefetches a row of x.
const manyAhead = 32

// indices returns the address of the indices from from on, and the address prefetchEnd up to which a
// kernel may read manyAhead indices ahead. prefetchEnd is nil if it need not prefetch.
func indices[I uint16 | int32](idx []I, from int, far bool) (at, prefetchEnd *byte) {
	at = BytesFrom(idx, min(from, len(idx)))
	if far && len(idx) >= manyAhead+16 {
		prefetchEnd = BytesFrom(idx, len(idx)-manyAhead-15)
	}
	return at, prefetchEnd
}
