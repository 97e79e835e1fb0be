//go:build amd64

package blocks

import (
	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
)

func init() {
	blockTables = simd.KernelsOf(
		&blockTable[float64]{
			{
				{blocksFull2F64AVX2, blocksFull3F64AVX2, blocksFull4F64AVX2, blocksFull5F64AVX2, blocksFull6F64AVX2, blocksFull7F64AVX2, blocksFull8F64AVX2},
				{blocksShort2F64AVX2, blocksShort3F64AVX2, blocksShort4F64AVX2, blocksShort5F64AVX2, blocksShort6F64AVX2, blocksShort7F64AVX2, blocksShort8F64AVX2},
			},
			{
				{blocksFull2F64AVX512, blocksFull3F64AVX512, blocksFull4F64AVX512, blocksFull5F64AVX512, blocksFull6F64AVX512, blocksFull7F64AVX512, blocksFull8F64AVX512},
				{blocksShort2F64AVX512, blocksShort3F64AVX512, blocksShort4F64AVX512, blocksShort5F64AVX512, blocksShort6F64AVX512, blocksShort7F64AVX512, blocksShort8F64AVX512},
				form.Bits57: {blocksBits57F64AVX512},
			},
		},
		&blockTable[float32]{
			{{blocksFull2F32AVX2, blocksFull3F32AVX2, blocksFull4F32AVX2, blocksFull5F32AVX2, blocksFull6F32AVX2, blocksFull7F32AVX2, blocksFull8F32AVX2}},
			{{blocksFull2F32AVX512, blocksFull3F32AVX512, blocksFull4F32AVX512, blocksFull5F32AVX512, blocksFull6F32AVX512, blocksFull7F32AVX512, blocksFull8F32AVX512}},
		},
	)
	blockTransposedTables = simd.KernelsOf(
		&blockTransposedTable[float64]{
			{form.Full: blocksTransposedFullF64AVX2, form.Short: blocksTransposedShortF64AVX2},
			{form.Full: blocksTransposedFullF64AVX512, form.Short: blocksTransposedShortF64AVX512, form.Bits57: blocksTransposedBits57F64AVX512},
		},
		&blockTransposedTable[float32]{
			{form.Full: blocksTransposedFullF32AVX2},
			{form.Full: blocksTransposedFullF32AVX512},
		},
	)
}
