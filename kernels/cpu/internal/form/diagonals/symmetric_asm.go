//go:build amd64

package diagonals

import (
	"github.com/msrep-go/msrep/internal/simd"
	"unsafe"
)

// The kernels depend on the offsets of the fields of DiagonalRun (gen/symmetric, gen/diagonals).
// With another layout this line does not compile.
var _ = [1]bool{}[unsafe.Offsetof(DiagonalRun{}.Slices)+(unsafe.Offsetof(DiagonalRun{}.Masked)^24)+(unsafe.Offsetof(DiagonalRun{}.Ends)^25)+(unsafe.Sizeof(DiagonalRun{})^32)]

func init() {
	symmetricTables = simd.KernelsOf(
		&symmetricTable[float64]{symmetricDiagonalsF64AVX2, symmetricDiagonalsF64AVX512},
		&symmetricTable[float32]{symmetricDiagonalsF32AVX2, symmetricDiagonalsF32AVX512},
	)
}
