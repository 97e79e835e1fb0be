//go:build amd64

package simd

var (
	manyRowsTables = kernels{
		&manyRowsTable[float64]{{manyF64AVX2Half, manyF64AVX2}, {manyF64AVX512Quarter, manyF64AVX512Half, manyF64AVX512}},
		&manyRowsTable[float32]{{manyF32AVX2Half, manyF32AVX2}, {manyF32AVX512Quarter, manyF32AVX512Half, manyF32AVX512}},
	}
	permuteRowsTables = kernels{
		&permuteRowsTable[float64]{permuteRowsF64AVX2, permuteRowsF64AVX512},
		&permuteRowsTable[float32]{permuteRowsF32AVX2, permuteRowsF32AVX512},
	}
)
