//go:build amd64

package simd

var diagonalTables = kernels{
	&diagonalTable[float64]{
		{diagonalsFullF64AVX2, diagonalsShortF64AVX2, diagonalsTableF64AVX2, diagonalsPerDiagonalF64AVX2},
		{diagonalsFullF64AVX512, diagonalsShortF64AVX512, diagonalsTableF64AVX512, diagonalsPerDiagonalF64AVX512},
	},
	&diagonalTable[float32]{
		{Full: diagonalsFullF32AVX2, Table: diagonalsTableF32AVX2, Same: diagonalsPerDiagonalF32AVX2},
		{Full: diagonalsFullF32AVX512, Table: diagonalsTableF32AVX512, Same: diagonalsPerDiagonalF32AVX512},
	},
}
