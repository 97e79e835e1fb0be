//go:build amd64

package bins

import "github.com/msrep-go/msrep/internal/simd"

func init() {
	manyBinTables = simd.KernelsOf(
		&manyBinTable[float64]{manyBinF64AVX2, manyBinF64AVX2Two, manyBinF64AVX512},
		&manyBinTable[float32]{manyBinF32AVX2, manyBinF32AVX2Two, manyBinF32AVX512},
	)
}
