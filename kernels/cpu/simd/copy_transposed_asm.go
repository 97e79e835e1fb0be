//go:build amd64

package simd

var transposeTables = kernels{&transposeTable[float64]{transpose2F64AVX2, transpose4F64AVX2}, &transposeTable[float32]{transpose2F32AVX2, transpose4F32AVX2}}
