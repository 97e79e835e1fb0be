//go:build amd64

package diagonals

import "github.com/msrep-go/msrep/internal/simd"

func init() {
	fewTables = simd.KernelsOf(
		&fewTable[float64]{few2F64AVX512, few3F64AVX512, few4F64AVX512, few5F64AVX512, few6F64AVX512, few7F64AVX512},
		&fewTable[float32]{few2F32AVX512, few3F32AVX512, few4F32AVX512},
	)
}
