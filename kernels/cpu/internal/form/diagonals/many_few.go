package diagonals

import (
	"unsafe"

	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/sparse"
)

// FewDiagonals reports whether fewAssembly multiplies the slices of diagonals that have all rows: x
// and y have fewer vectors than fill a register, and contiguous rows, so that a register holds
// elements of several rows.
func FewDiagonals[V sparse.Value](l simd.Level, d *Diagonals[V], x, y form.MultiVector[V]) bool {
	k := y.Cols
	return l == simd.AVX512 && d.Values.Storage != form.Same && k > 1 && k < 8 && k*d.Values.Lanes <= 64 && x.Stride == k && y.Stride == k
}

// fewStream is MultiVector.Streams for products of few vectors.
func fewStream[V sparse.Value](b form.MultiVector[V]) bool {
	at := uintptr(unsafe.Pointer(unsafe.SliceData(b.Val)))
	return len(b.Val)*int(unsafe.Sizeof(*new(V))) >= form.Streamed && at%uintptr(simd.RegisterBytes(simd.AVX512)) == 0
}

// fewTable has kernels by the number of vectors minus 2.
type fewTable[V sparse.Value] [6]func(n, width int, masks *uint16, val *V, offsets *int64, x *V, row int, y *V, alpha, beta V, reads, stream bool)

// fewAssembly is multiply for slices that have all rows, if FewDiagonals is true.
func fewAssembly[V sparse.Value](s *form.ManyShape[V], alpha, beta V, x, y form.MultiVector[V], stream bool) {
	simd.ForType[*fewTable[V]](fewTables)[y.Cols-2](s.N, len(s.Offsets), unsafe.SliceData(s.Masks), unsafe.SliceData(s.Val), unsafe.SliceData(s.Offsets),
		unsafe.SliceData(x.Val), s.Row, unsafe.SliceData(y.Val), alpha, beta, beta != 0, stream)
}

// fewTables has no kernels on processors without assembly.
var fewTables simd.Kernels
