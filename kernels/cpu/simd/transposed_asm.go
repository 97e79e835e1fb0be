//go:build amd64

package simd

var diagonalTransposedTables = kernels{
	&diagonalTransposedTable[float64]{
		{diagonalsTransposedFullF64AVX2, diagonalsTransposedShortF64AVX2, diagonalsTransposedTableF64AVX2, diagonalsTransposedPerDiagonalF64AVX2},
		{diagonalsTransposedFullF64AVX512, diagonalsTransposedShortF64AVX512, diagonalsTransposedTableF64AVX512, diagonalsTransposedPerDiagonalF64AVX512},
	},
	&diagonalTransposedTable[float32]{
		{Full: diagonalsTransposedFullF32AVX2, Table: diagonalsTransposedTableF32AVX2, Same: diagonalsTransposedPerDiagonalF32AVX2},
		{Full: diagonalsTransposedFullF32AVX512, Table: diagonalsTransposedTableF32AVX512, Same: diagonalsTransposedPerDiagonalF32AVX512},
	},
}

var blockTransposedTables = kernels{
	&blockTransposedTable[float64]{
		{Full: blocksTransposedFullF64AVX2, Short: blocksTransposedShortF64AVX2},
		{Full: blocksTransposedFullF64AVX512, Short: blocksTransposedShortF64AVX512, Bits57: blocksTransposedBits57F64AVX512},
	},
	&blockTransposedTable[float32]{
		{Full: blocksTransposedFullF32AVX2},
		{Full: blocksTransposedFullF32AVX512},
	},
}

var sliceTransposedTables = kernels{
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
			Table: {slicesTransposedTable16F32AVX2, slicesTransposedTable32F32AVX2},
			Same:  {slicesTransposedSame16F32AVX2, slicesTransposedSame32F32AVX2},
		}, {
			{slicesTransposedFull16F32AVX512, slicesTransposedFull32F32AVX512},
			Table: {slicesTransposedTable16F32AVX512, slicesTransposedTable32F32AVX512},
			Same:  {slicesTransposedSame16F32AVX512, slicesTransposedSame32F32AVX512},
		},
	},
}

var outOfRangeTables = kernels{
	&outOfRangeTable[float64]{outOfRangeF64AVX2, outOfRangeF64AVX512},
	&outOfRangeTable[float32]{outOfRangeF32AVX2, outOfRangeF32AVX512},
}
