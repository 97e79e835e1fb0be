//go:build amd64

package form

import "github.com/msrep-go/msrep/internal/simd"

func init() {
	storeRowsTables = simd.KernelsOf(
		&storeRowsTable[float64]{storeRowsF64AVX2, storeRowsF64AVX512},
		&storeRowsTable[float32]{storeRowsF32AVX2, storeRowsF32AVX512},
	)
	storePermutedRowsTables = simd.KernelsOf(
		&storePermutedRowsTable[float64]{storePermutedRowsF64AVX2, storePermutedRowsF64AVX512},
		&storePermutedRowsTable[float32]{storePermutedRowsF32AVX2, storePermutedRowsF32AVX512},
	)
	permuteTables = simd.KernelsOf(
		&permuteTable[float64]{permuteF64AVX2, permuteF64AVX512},
		&permuteTable[float32]{permuteF32AVX2, permuteF32AVX512},
	)
	outOfRangeTables = simd.KernelsOf(
		&outOfRangeTable[float64]{outOfRangeF64AVX2, outOfRangeF64AVX512},
		&outOfRangeTable[float32]{outOfRangeF32AVX2, outOfRangeF32AVX512},
	)
}
