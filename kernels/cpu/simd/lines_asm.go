//go:build amd64

package simd

var addLinesKernels = kernels{addLinesKernel[float64](addLinesF64AVX2), addLinesKernel[float32](addLinesF32AVX2)}
