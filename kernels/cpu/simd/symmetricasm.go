//go:build amd64

package simd

import (
	"unsafe"

	"github.com/msrep-go/msrep/sparse"
)

// The kernels know where a DiagonalRun has what (gen/symmetric): another layout does not
// compile.
var _ = [1]bool{}[unsafe.Offsetof(DiagonalRun{}.Slices)+(unsafe.Offsetof(DiagonalRun{}.Masked)^24)+(unsafe.Sizeof(DiagonalRun{})^32)]

// symmetricAssembly multiplies slices with AVX-512. Of the offsets of the runs far are so
// far from the diagonal that their columns lie before the slice, and before lie before the
// diagonal. x, y and to begin with the first row, to has elements before it.
func symmetricAssembly[V sparse.Value](d *Diagonals[V], runs []DiagonalRun, far, before, column, mask int, alpha, beta V, x, y, to, carries []V) {
	offsets, diagonal := &d.Offsets[runs[0].Pattern], runs[0].Width-before
	masks := unsafe.SliceData(d.Masks[mask:])
	switch d := any(d).(type) {
	case *Diagonals[float64]:
		symmetricDiagonalsF64AVX512(&runs[0].Slices, len(runs), offsets, far, before, diagonal, masks, &d.Values.Full[column*d.Values.Lanes],
			pointer[float64](x), pointer[float64](y), pointer[float64](to), float64(alpha), float64(beta), pointer[float64](carries))
	case *Diagonals[float32]:
		symmetricDiagonalsF32AVX512(&runs[0].Slices, len(runs), offsets, far, before, diagonal, masks, &d.Values.Full[column*d.Values.Lanes],
			pointer[float32](x), pointer[float32](y), pointer[float32](to), float32(alpha), float32(beta), pointer[float32](carries))
	}
}

func pointer[W, V sparse.Value](v []V) *W { return unsafe.SliceData(any(v).([]W)) }
