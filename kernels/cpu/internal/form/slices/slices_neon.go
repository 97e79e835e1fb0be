//go:build arm64

package slices

import (
	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
)

func init() {
	sliceTables = simd.KernelsOf(
		&sliceTable[float64]{{
			{slicesFull16F64NEON, slicesFull32F64NEON},
			{slicesShort16F64NEON, slicesShort32F64NEON},
			{slicesTable16F64NEON, slicesTable32F64NEON},
			{slicesSame16F64NEON, slicesSame32F64NEON},
		}},
		&sliceTable[float32]{{
			{slicesFull16F32NEON, slicesFull32F32NEON},
			form.Table: {slicesTable16F32NEON, slicesTable32F32NEON},
			form.Same:  {slicesSame16F32NEON, slicesSame32F32NEON},
		}},
	)
	sliceTransposedTables = simd.KernelsOf(
		&sliceTransposedTable[float64]{{
			{slicesTransposedFull16F64NEON, slicesTransposedFull32F64NEON},
			{slicesTransposedShort16F64NEON, slicesTransposedShort32F64NEON},
			{slicesTransposedTable16F64NEON, slicesTransposedTable32F64NEON},
			{slicesTransposedSame16F64NEON, slicesTransposedSame32F64NEON},
		}},
		&sliceTransposedTable[float32]{{
			{slicesTransposedFull16F32NEON, slicesTransposedFull32F32NEON},
			form.Table: {slicesTransposedTable16F32NEON, slicesTransposedTable32F32NEON},
			form.Same:  {slicesTransposedSame16F32NEON, slicesTransposedSame32F32NEON},
		}},
	)
}
