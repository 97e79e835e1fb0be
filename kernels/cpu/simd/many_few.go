package simd

import (
	"unsafe"

	"github.com/msrep-go/msrep/sparse"
)

// FewDiagonals reports whether fewAssembly multiplies the slices of diagonals that have all rows: x
// and y have fewer vectors than fill a register, and contiguous rows, so that a register holds
// elements of several rows.
func FewDiagonals[V sparse.Value](l Level, d *Diagonals[V], x, y MultiVector[V]) bool {
	k := y.Cols
	return l == AVX512 && d.Values.Storage != Same && k > 1 && k < 8 && k*d.Values.Lanes <= 64 && x.Stride == k && y.Stride == k
}

// fewStream is MultiVector.Streams for products of few vectors.
func (b MultiVector[V]) fewStream() bool {
	at := uintptr(unsafe.Pointer(unsafe.SliceData(b.Val)))
	return len(b.Val)*int(unsafe.Sizeof(*new(V))) >= streamed && at%uintptr(registerBytes(AVX512)) == 0
}

// fewTable has kernels by the number of vectors minus 2.
type fewTable[V sparse.Value] [6]func(n, width int, masks *uint16, val *V, offsets *int64, x *V, row int, y *V, alpha, beta V, reads, stream bool)

// fewAssembly is multiply for slices that have all rows, if FewDiagonals is true.
func (s *manyShape[V]) fewAssembly(alpha, beta V, x, y MultiVector[V], stream bool) {
	forType[*fewTable[V]](fewTables)[y.Cols-2](s.n, len(s.offsets), unsafe.SliceData(s.masks), unsafe.SliceData(s.val), unsafe.SliceData(s.offsets),
		unsafe.SliceData(x.Val), s.row, unsafe.SliceData(y.Val), alpha, beta, beta != 0, stream)
}
