//go:build amd64

package blocks

import "github.com/msrep-go/msrep/internal/simd"

func init() {
	manySymmetricBlockTables = simd.KernelsOf(
		&manySymmetricBlockTable[float64]{
			{manySymmetricBlocks2F64AVX2, manySymmetricBlocks3F64AVX2, manySymmetricBlocks4F64AVX2, manySymmetricBlocks5F64AVX2, manySymmetricBlocks6F64AVX2},
			{manySymmetricBlocks2F64AVX512, manySymmetricBlocks3F64AVX512, manySymmetricBlocks4F64AVX512, manySymmetricBlocks5F64AVX512, manySymmetricBlocks6F64AVX512},
		},
		&manySymmetricBlockTable[float32]{
			{manySymmetricBlocks2F32AVX2, manySymmetricBlocks3F32AVX2, manySymmetricBlocks4F32AVX2, manySymmetricBlocks5F32AVX2, manySymmetricBlocks6F32AVX2},
			{manySymmetricBlocks2F32AVX512, manySymmetricBlocks3F32AVX512, manySymmetricBlocks4F32AVX512, manySymmetricBlocks5F32AVX512, manySymmetricBlocks6F32AVX512},
		},
	)
}
