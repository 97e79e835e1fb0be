//go:build arm64

package vec

import "github.com/msrep-go/msrep/internal/simd"

var transposeTables = simd.KernelsOf(&transposeTable[float64]{transpose2F64NEON, transpose4F64NEON}, &transposeTable[float32]{transpose2F32NEON, transpose4F32NEON})
