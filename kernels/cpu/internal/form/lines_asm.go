//go:build amd64

package form

import "github.com/msrep-go/msrep/internal/simd"

func init() {
	addLinesKernels = simd.KernelsOf(addLinesKernel[float64](addLinesF64AVX2), addLinesKernel[float32](addLinesF32AVX2))
}
