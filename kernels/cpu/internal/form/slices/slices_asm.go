//go:build amd64

package slices

import (
	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
)

func init() {
	sliceTables = simd.KernelsOf(
		&sliceTable[float64]{
			{
				{slicesFull16F64AVX2, slicesFull32F64AVX2},
				{slicesShort16F64AVX2, slicesShort32F64AVX2},
				{slicesTable16F64AVX2, slicesTable32F64AVX2},
				{slicesSame16F64AVX2, slicesSame32F64AVX2},
			}, {
				{slicesFull16F64AVX512, slicesFull32F64AVX512},
				{slicesShort16F64AVX512, slicesShort32F64AVX512},
				{slicesTable16F64AVX512, slicesTable32F64AVX512},
				{slicesSame16F64AVX512, slicesSame32F64AVX512},
			},
		},
		&sliceTable[float32]{
			{
				{slicesFull16F32AVX2, slicesFull32F32AVX2},
				form.Table: {slicesTable16F32AVX2, slicesTable32F32AVX2},
				form.Same:  {slicesSame16F32AVX2, slicesSame32F32AVX2},
			}, {
				{slicesFull16F32AVX512, slicesFull32F32AVX512},
				form.Table: {slicesTable16F32AVX512, slicesTable32F32AVX512},
				form.Same:  {slicesSame16F32AVX512, slicesSame32F32AVX512},
			},
		},
	)
	sliceTransposedTables = simd.KernelsOf(
		&sliceTransposedTable[float64]{
			{
				{slicesTransposedFull16F64AVX2, slicesTransposedFull32F64AVX2},
				{slicesTransposedShort16F64AVX2, slicesTransposedShort32F64AVX2},
				{slicesTransposedTable16F64AVX2, slicesTransposedTable32F64AVX2},
				{slicesTransposedSame16F64AVX2, slicesTransposedSame32F64AVX2},
			}, {
				{slicesTransposedFull16F64AVX512, slicesTransposedFull32F64AVX512},
				{slicesTransposedShort16F64AVX512, slicesTransposedShort32F64AVX512},
				{slicesTransposedTable16F64AVX512, slicesTransposedTable32F64AVX512},
				{slicesTransposedSame16F64AVX512, slicesTransposedSame32F64AVX512},
			},
		},
		&sliceTransposedTable[float32]{
			{
				{slicesTransposedFull16F32AVX2, slicesTransposedFull32F32AVX2},
				form.Table: {slicesTransposedTable16F32AVX2, slicesTransposedTable32F32AVX2},
				form.Same:  {slicesTransposedSame16F32AVX2, slicesTransposedSame32F32AVX2},
			}, {
				{slicesTransposedFull16F32AVX512, slicesTransposedFull32F32AVX512},
				form.Table: {slicesTransposedTable16F32AVX512, slicesTransposedTable32F32AVX512},
				form.Same:  {slicesTransposedSame16F32AVX512, slicesTransposedSame32F32AVX512},
			},
		},
	)
}
