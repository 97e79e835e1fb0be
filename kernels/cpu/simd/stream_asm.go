//go:build amd64

package simd

var (
	storeRowsTables = kernels{
		&storeRowsTable[float64]{storeRowsF64AVX2, storeRowsF64AVX512},
		&storeRowsTable[float32]{storeRowsF32AVX2, storeRowsF32AVX512},
	}
	storePermutedRowsTables = kernels{
		&storePermutedRowsTable[float64]{storePermutedRowsF64AVX2, storePermutedRowsF64AVX512},
		&storePermutedRowsTable[float32]{storePermutedRowsF32AVX2, storePermutedRowsF32AVX512},
	}
	permuteTables = kernels{
		&permuteTable[float64]{permuteF64AVX2, permuteF64AVX512},
		&permuteTable[float32]{permuteF32AVX2, permuteF32AVX512},
	}
)
