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
type fewTable[V sparse.Value] [6]func(*fewArgs[V])

// fewAssembly is multiply for slices that have all rows, if FewDiagonals is true.
func fewAssembly[V sparse.Value](d *Diagonals[V], s *form.ManyShape[V], alpha, beta V, x, y form.MultiVector[V], stream bool) {
	a := &d.args.few
	a.n, a.width, a.masks = s.N, len(s.Offsets), unsafe.SliceData(s.Masks)
	a.val, a.offsets, a.x = unsafe.SliceData(s.Val), unsafe.SliceData(s.Offsets), unsafe.SliceData(x.Val)
	a.row, a.y, a.reads = s.Row, unsafe.SliceData(y.Val), form.AsInt(beta != 0)
	a.stream, a.alpha, a.beta = form.AsInt(stream), alpha, beta
	simd.ForType[*fewTable[V]](fewTables)[y.Cols-2](a)
	a.x, a.y = nil, nil // the diagonals keep no vector
}

// fewTables has no kernels on processors without assembly.
var fewTables simd.Kernels
