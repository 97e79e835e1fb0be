//go:build amd64

package csr

import "github.com/msrep-go/msrep/internal/simd"

func init() {
	manyRowsTables = simd.KernelsOf(
		&manyRowsTable[float64]{{manyF64AVX2Half, manyF64AVX2}, {manyF64AVX512Quarter, manyF64AVX512Half, manyF64AVX512}},
		&manyRowsTable[float32]{{manyF32AVX2Half, manyF32AVX2}, {manyF32AVX512Quarter, manyF32AVX512Half, manyF32AVX512}},
	)
	permuteRowsTables = simd.KernelsOf(
		&permuteRowsTable[float64]{permuteRowsF64AVX2, permuteRowsF64AVX512},
		&permuteRowsTable[float32]{permuteRowsF32AVX2, permuteRowsF32AVX512},
	)
}
