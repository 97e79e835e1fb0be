//go:build amd64

package simd

var sliceTables = kernels{
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
			Table: {slicesTable16F32AVX2, slicesTable32F32AVX2},
			Same:  {slicesSame16F32AVX2, slicesSame32F32AVX2},
		}, {
			{slicesFull16F32AVX512, slicesFull32F32AVX512},
			Table: {slicesTable16F32AVX512, slicesTable32F32AVX512},
			Same:  {slicesSame16F32AVX512, slicesSame32F32AVX512},
		},
	},
}
