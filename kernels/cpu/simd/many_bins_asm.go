//go:build amd64

package simd

var manyBinTables = kernels{
	&manyBinTable[float64]{manyBinF64AVX2, manyBinF64AVX2Two, manyBinF64AVX512},
	&manyBinTable[float32]{manyBinF32AVX2, manyBinF32AVX2Two, manyBinF32AVX512},
}
