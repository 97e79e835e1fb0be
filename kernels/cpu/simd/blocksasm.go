//go:build amd64

package simd

import (
	"unsafe"

	"github.com/msrep-go/msrep/sparse"
)

type blockKernel[V sparse.Value] func(n int, widths *uint32, masks *uint16, val *byte, idx *int32, columns int, x, table, sums *V)

// The kernels by Level-AVX2, Storage, and Height-2.
var (
	blockKernels64 = [2][storages][BlockMax - 1]blockKernel[float64]{
		{
			{blocksFull2F64AVX2, blocksFull3F64AVX2, blocksFull4F64AVX2, blocksFull5F64AVX2, blocksFull6F64AVX2, blocksFull7F64AVX2, blocksFull8F64AVX2},
			{blocksShort2F64AVX2, blocksShort3F64AVX2, blocksShort4F64AVX2, blocksShort5F64AVX2, blocksShort6F64AVX2, blocksShort7F64AVX2, blocksShort8F64AVX2},
			High32: {blocksHigh322F64AVX2, blocksHigh323F64AVX2, blocksHigh324F64AVX2, blocksHigh325F64AVX2, blocksHigh326F64AVX2, blocksHigh327F64AVX2, blocksHigh328F64AVX2},
		},
		{
			{blocksFull2F64AVX512, blocksFull3F64AVX512, blocksFull4F64AVX512, blocksFull5F64AVX512, blocksFull6F64AVX512, blocksFull7F64AVX512, blocksFull8F64AVX512},
			{blocksShort2F64AVX512, blocksShort3F64AVX512, blocksShort4F64AVX512, blocksShort5F64AVX512, blocksShort6F64AVX512, blocksShort7F64AVX512, blocksShort8F64AVX512},
			High32: {blocksHigh322F64AVX512, blocksHigh323F64AVX512, blocksHigh324F64AVX512, blocksHigh325F64AVX512, blocksHigh326F64AVX512, blocksHigh327F64AVX512, blocksHigh328F64AVX512},
			Bits57: {blocksBits572F64AVX512, blocksBits573F64AVX512, blocksBits574F64AVX512, blocksBits575F64AVX512, blocksBits576F64AVX512, blocksBits577F64AVX512, blocksBits578F64AVX512},
		},
	}
	blockKernels32 = [2][1][BlockMax - 1]blockKernel[float32]{
		{{blocksFull2F32AVX2, blocksFull3F32AVX2, blocksFull4F32AVX2, blocksFull5F32AVX2, blocksFull6F32AVX2, blocksFull7F32AVX2, blocksFull8F32AVX2}},
		{{blocksFull2F32AVX512, blocksFull3F32AVX512, blocksFull4F32AVX512, blocksFull5F32AVX512, blocksFull6F32AVX512, blocksFull7F32AVX512, blocksFull8F32AVX512}},
	}
)

func blocksAssembly[V sparse.Value](l Level, b *Blocks[V], at Position, n int, x, sums []V) {
	switch b := any(b).(type) {
	case *Blocks[float64]:
		callBlocks(blockKernels64[l-AVX2][b.Values.Storage][b.Height-2], b, at, n, any(x).([]float64), any(sums).([]float64))
	case *Blocks[float32]:
		callBlocks(blockKernels32[l-AVX2][b.Values.Storage][b.Height-2], b, at, n, any(x).([]float32), any(sums).([]float32))
	}
}

func callBlocks[V sparse.Value](kernel blockKernel[V], b *Blocks[V], at Position, n int, x, sums []V) {
	column := at.Column * b.Width * b.Height
	widths := b.Widths[2*at.Slice : 2*(at.Slice+n)]
	kernel(n, unsafe.SliceData(widths), unsafe.SliceData(b.Masks[at.Mask:]), b.Values.from(column),
		unsafe.SliceData(b.Idx[at.Column*b.Values.Lanes:]), b.Width, unsafe.SliceData(x), b.Values.table(column), unsafe.SliceData(sums))
}
