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
	manyTables = simd.KernelsOf(
		&manyTable[float64]{
			{
				{manySlices161F64AVX2Half, manySlices161F64AVX2, manySlices162F64AVX2},
				{manySlices321F64AVX2Half, manySlices321F64AVX2, manySlices322F64AVX2},
				{1: manyDiagonals1F64AVX2, manyDiagonals2F64AVX2},
				{1: manyPerDiagonal1F64AVX2, manyPerDiagonal2F64AVX2},
			}, {
				{manySlices161F64AVX512Quarter, manySlices161F64AVX512Half, manySlices161F64AVX512, manySlices162F64AVX512},
				{manySlices321F64AVX512Quarter, manySlices321F64AVX512Half, manySlices321F64AVX512, manySlices322F64AVX512},
				{2: manyDiagonals1F64AVX512, manyDiagonals2F64AVX512},
				{2: manyPerDiagonal1F64AVX512, manyPerDiagonal2F64AVX512},
			},
		},
		&manyTable[float32]{
			{
				{manySlices161F32AVX2Half, manySlices161F32AVX2, manySlices162F32AVX2},
				{manySlices321F32AVX2Half, manySlices321F32AVX2, manySlices322F32AVX2},
				{1: manyDiagonals1F32AVX2, manyDiagonals2F32AVX2},
				{1: manyPerDiagonal1F32AVX2, manyPerDiagonal2F32AVX2},
			}, {
				{manySlices161F32AVX512Quarter, manySlices161F32AVX512Half, manySlices161F32AVX512, manySlices162F32AVX512},
				{manySlices321F32AVX512Quarter, manySlices321F32AVX512Half, manySlices321F32AVX512, manySlices322F32AVX512},
				{2: manyDiagonals1F32AVX512, manyDiagonals2F32AVX512},
				{2: manyPerDiagonal1F32AVX512, manyPerDiagonal2F32AVX512},
			},
		},
	)
	expandTables = simd.KernelsOf(
		&expandTable[float64]{
			{Short: expandShortF64AVX2, Table: expandTableF64AVX2},
			{Short: expandShortF64AVX512, Table: expandTableF64AVX512, Bits57: expandBits57F64AVX512},
		},
		&expandTable[float32]{
			{Table: expandTableF32AVX2},
			{Table: expandTableF32AVX512},
		},
	)
}

func minMaxKernel(idx []int32) (lo, hi int32) { return minMaxAVX2(idx) }
