//go:build amd64

package simd

var sliceTables = kernels{
	&sliceTable[float64]{
		{
			{slicesFull16F64AVX2, slicesFull32F64AVX2},
			{slicesShort16F64AVX2, slicesShort32F64AVX2},
			{slicesTable16F64AVX2, slicesTable32F64AVX2},
			{slicesSame16F64AVX2, slicesSame32F64AVX2},
			{slicesHigh3216F64AVX2, slicesHigh3232F64AVX2},
			{slicesHigh1616F64AVX2, slicesHigh1632F64AVX2},
		}, {
			{slicesFull16F64AVX512, slicesFull32F64AVX512},
			{slicesShort16F64AVX512, slicesShort32F64AVX512},
			{slicesTable16F64AVX512, slicesTable32F64AVX512},
			{slicesSame16F64AVX512, slicesSame32F64AVX512},
			{slicesHigh3216F64AVX512, slicesHigh3232F64AVX512},
			{slicesHigh1616F64AVX512, slicesHigh1632F64AVX512},
		},
	},
	&sliceTable[float32]{
		{
			{slicesFull16F32AVX2, slicesFull32F32AVX2},
			Table:  {slicesTable16F32AVX2, slicesTable32F32AVX2},
			Same:   {slicesSame16F32AVX2, slicesSame32F32AVX2},
			High16: {slicesHigh1616F32AVX2, slicesHigh1632F32AVX2},
		}, {
			{slicesFull16F32AVX512, slicesFull32F32AVX512},
			Table:  {slicesTable16F32AVX512, slicesTable32F32AVX512},
			Same:   {slicesSame16F32AVX512, slicesSame32F32AVX512},
			High16: {slicesHigh1616F32AVX512, slicesHigh1632F32AVX512},
		},
	},
}
