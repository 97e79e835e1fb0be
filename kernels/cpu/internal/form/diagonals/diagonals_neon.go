//go:build arm64

package diagonals

import (
	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
)

func init() {
	diagonalTables = simd.KernelsOf(
		&diagonalTable[float64]{
			{diagonalsFullF64NEON, diagonalsShortF64NEON, diagonalsTableF64NEON, diagonalsPerDiagonalF64NEON},
		},
		&diagonalTable[float32]{
			{form.Full: diagonalsFullF32NEON, form.Table: diagonalsTableF32NEON, form.Same: diagonalsPerDiagonalF32NEON},
		},
	)
	diagonalTransposedTables = simd.KernelsOf(
		&diagonalTransposedTable[float64]{
			{diagonalsTransposedFullF64NEON, diagonalsTransposedShortF64NEON, diagonalsTransposedTableF64NEON, diagonalsTransposedPerDiagonalF64NEON},
		},
		&diagonalTransposedTable[float32]{
			{form.Full: diagonalsTransposedFullF32NEON, form.Table: diagonalsTransposedTableF32NEON, form.Same: diagonalsTransposedPerDiagonalF32NEON},
		},
	)
}
