//go:build amd64

package cpms

func init() {
	joinKernels = joinTable{
		{
			oneOf2: join1of2F64AVX2, join2of2F64AVX2,
			oneOf4: join1of4F64AVX2, join2of4F64AVX2, join3of4F64AVX2, join4of4F64AVX2,
		}, {
			oneOf2: join1of2F64AVX512, join2of2F64AVX512,
			oneOf4: join1of4F64AVX512, join2of4F64AVX512, join3of4F64AVX512, join4of4F64AVX512,
		},
	}
	headRowsKernels = headRowsTable{
		ones:       {1: headRowsOnesX2AVX2, 2: headRowsOnesX4AVX2, 3: headRowsOnesX6AVX2, 4: headRowsOnesX8AVX2},
		plain:      {1: headRowsPlainX2AVX2, 2: headRowsPlainX4AVX2, 3: headRowsPlainX6AVX2, 4: headRowsPlainX8AVX2},
		oneOf2:     {2: headRows1of2X4AVX2, 4: headRows1of2X8AVX2},
		oneOf2 + 1: {4: headRows2of2X8AVX2},
		oneOf4:     {1: headRows1of4X2AVX2, 4: headRows1of4X8AVX2},
		oneOf4 + 1: {2: headRows2of4X4AVX2, 4: headRows2of4X8AVX2},
		oneOf4 + 2: {3: headRows3of4X6AVX2, 4: headRows3of4X8AVX2},
		oneOf4 + 3: {4: headRows4of4X8AVX2},
	}
	headSlicesKernels = headSlicesTable{
		{
			ones:       {1: headSlicesOnesX2AVX2, 2: headSlicesOnesX4AVX2, 3: headSlicesOnesX6AVX2, 4: headSlicesOnesX8AVX2},
			plain:      {1: headSlicesPlainX2AVX2, 2: headSlicesPlainX4AVX2, 3: headSlicesPlainX6AVX2, 4: headSlicesPlainX8AVX2},
			oneOf2:     {2: headSlices1of2X4AVX2, 4: headSlices1of2X8AVX2},
			oneOf2 + 1: {4: headSlices2of2X8AVX2},
			oneOf4:     {1: headSlices1of4X2AVX2, 4: headSlices1of4X8AVX2},
			oneOf4 + 1: {2: headSlices2of4X4AVX2, 4: headSlices2of4X8AVX2},
			oneOf4 + 2: {3: headSlices3of4X6AVX2, 4: headSlices3of4X8AVX2},
			oneOf4 + 3: {4: headSlices4of4X8AVX2},
		}, {
			ones:       {1: headSlicesOnesX2AVX512, 2: headSlicesOnesX4AVX512, 3: headSlicesOnesX6AVX512, 4: headSlicesOnesX8AVX512},
			plain:      {1: headSlicesPlainX2AVX512, 2: headSlicesPlainX4AVX512, 3: headSlicesPlainX6AVX512, 4: headSlicesPlainX8AVX512},
			oneOf2:     {2: headSlices1of2X4AVX512, 4: headSlices1of2X8AVX512},
			oneOf2 + 1: {4: headSlices2of2X8AVX512},
			oneOf4:     {1: headSlices1of4X2AVX512, 4: headSlices1of4X8AVX512},
			oneOf4 + 1: {2: headSlices2of4X4AVX512, 4: headSlices2of4X8AVX512},
			oneOf4 + 2: {3: headSlices3of4X6AVX512, 4: headSlices3of4X8AVX512},
			oneOf4 + 3: {4: headSlices4of4X8AVX512},
		},
	}
	nearSlicesKernels = headSlicesTable{
		{
			ones:       {1: nearSlicesOnesX2AVX2, 2: nearSlicesOnesX4AVX2, 3: nearSlicesOnesX6AVX2, 4: nearSlicesOnesX8AVX2},
			plain:      {1: nearSlicesPlainX2AVX2, 2: nearSlicesPlainX4AVX2, 3: nearSlicesPlainX6AVX2, 4: nearSlicesPlainX8AVX2},
			oneOf2:     {2: nearSlices1of2X4AVX2, 4: nearSlices1of2X8AVX2},
			oneOf2 + 1: {4: nearSlices2of2X8AVX2},
			oneOf4:     {1: nearSlices1of4X2AVX2, 4: nearSlices1of4X8AVX2},
			oneOf4 + 1: {2: nearSlices2of4X4AVX2, 4: nearSlices2of4X8AVX2},
			oneOf4 + 2: {3: nearSlices3of4X6AVX2, 4: nearSlices3of4X8AVX2},
			oneOf4 + 3: {4: nearSlices4of4X8AVX2},
		}, {
			ones:       {1: nearSlicesOnesX2AVX512, 2: nearSlicesOnesX4AVX512, 3: nearSlicesOnesX6AVX512, 4: nearSlicesOnesX8AVX512},
			plain:      {1: nearSlicesPlainX2AVX512, 2: nearSlicesPlainX4AVX512, 3: nearSlicesPlainX6AVX512, 4: nearSlicesPlainX8AVX512},
			oneOf2:     {2: nearSlices1of2X4AVX512, 4: nearSlices1of2X8AVX512},
			oneOf2 + 1: {4: nearSlices2of2X8AVX512},
			oneOf4:     {1: nearSlices1of4X2AVX512, 4: nearSlices1of4X8AVX512},
			oneOf4 + 1: {2: nearSlices2of4X4AVX512, 4: nearSlices2of4X8AVX512},
			oneOf4 + 2: {3: nearSlices3of4X6AVX512, 4: nearSlices3of4X8AVX512},
			oneOf4 + 3: {4: nearSlices4of4X8AVX512},
		},
	}
	rankKernels = rankTable{
		2: {rankStored4AVX2, rankFolded4AVX2},
		3: {rankStored6AVX2, rankFolded6AVX2},
		4: {rankStored8AVX2, rankFolded8AVX2},
	}
}
