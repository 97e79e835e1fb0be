//go:build amd64

package diagonals

import (
	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
)

func init() {
	diagonalTables = simd.KernelsOf(
		&diagonalTable[float64]{
			{diagonalsFullF64AVX2, diagonalsShortF64AVX2, diagonalsTableF64AVX2, diagonalsPerDiagonalF64AVX2},
			{diagonalsFullF64AVX512, diagonalsShortF64AVX512, diagonalsTableF64AVX512, diagonalsPerDiagonalF64AVX512},
		},
		&diagonalTable[float32]{
			{form.Full: diagonalsFullF32AVX2, form.Table: diagonalsTableF32AVX2, form.Same: diagonalsPerDiagonalF32AVX2},
			{form.Full: diagonalsFullF32AVX512, form.Table: diagonalsTableF32AVX512, form.Same: diagonalsPerDiagonalF32AVX512},
		},
	)
	diagonalTransposedTables = simd.KernelsOf(
		&diagonalTransposedTable[float64]{
			{diagonalsTransposedFullF64AVX2, diagonalsTransposedShortF64AVX2, diagonalsTransposedTableF64AVX2, diagonalsTransposedPerDiagonalF64AVX2},
			{diagonalsTransposedFullF64AVX512, diagonalsTransposedShortF64AVX512, diagonalsTransposedTableF64AVX512, diagonalsTransposedPerDiagonalF64AVX512},
		},
		&diagonalTransposedTable[float32]{
			{form.Full: diagonalsTransposedFullF32AVX2, form.Table: diagonalsTransposedTableF32AVX2, form.Same: diagonalsTransposedPerDiagonalF32AVX2},
			{form.Full: diagonalsTransposedFullF32AVX512, form.Table: diagonalsTransposedTableF32AVX512, form.Same: diagonalsTransposedPerDiagonalF32AVX512},
		},
	)
}
