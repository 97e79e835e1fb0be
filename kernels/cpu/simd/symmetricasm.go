//go:build amd64

package simd

import (
	"unsafe"

	"github.com/msrep-go/msrep/sparse"
)

// The kernels know where a DiagonalRun has what (gen/symmetric): another layout does not
// compile.
var _ = [1]bool{}[unsafe.Offsetof(DiagonalRun{}.Slices)+(unsafe.Offsetof(DiagonalRun{}.Masked)^24)+(unsafe.Sizeof(DiagonalRun{})^32)]

type symmetricKernel[V sparse.Value] func(runs *int, count int, offsets *int64, far, before, diagonal int, masks *uint16, val, x, own, y *V, alpha, beta V, carries *V)

// The kernels by level, from AVX2 on.
var (
	symmetricKernels64 = [2]symmetricKernel[float64]{symmetricDiagonalsF64AVX2, symmetricDiagonalsF64AVX512}
	symmetricKernels32 = [2]symmetricKernel[float32]{symmetricDiagonalsF32AVX2, symmetricDiagonalsF32AVX512}
)

// symmetricAssembly multiplies slices from AVX2 on. Of the offsets of the runs far are so
// far from the diagonal that their columns lie before the slice, and before lie before the
// diagonal. x, y and to begin with the first row, to has elements before it.
func symmetricAssembly[V sparse.Value](l Level, d *Diagonals[V], runs []DiagonalRun, far, before, column, mask int, alpha, beta V, x, y, to, carries []V) {
	var kernel any
	switch any(d).(type) {
	case *Diagonals[float64]:
		kernel = symmetricKernels64[l-AVX2]
	case *Diagonals[float32]:
		kernel = symmetricKernels32[l-AVX2]
	}
	kernel.(symmetricKernel[V])(&runs[0].Slices, len(runs), &d.Offsets[runs[0].Pattern], far, before, runs[0].Width-before, unsafe.SliceData(d.Masks[mask:]),
		&d.Values.Full[column*d.Values.Lanes], unsafe.SliceData(x), unsafe.SliceData(y), unsafe.SliceData(to), alpha, beta, unsafe.SliceData(carries))
}
