//go:build amd64

package vec

import "github.com/msrep-go/msrep/internal/simd"

var transposeTables = simd.KernelsOf(&transposeTable[float64]{transpose2F64AVX2, transpose4F64AVX2}, &transposeTable[float32]{transpose2F32AVX2, transpose4F32AVX2})
