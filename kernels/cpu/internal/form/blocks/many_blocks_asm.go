//go:build amd64

package blocks

import "github.com/msrep-go/msrep/internal/simd"

func init() {
	manyBlockTables = simd.KernelsOf(
		&manyBlockTable[float64]{
			{manyBlocks2F64AVX2, manyBlocks3F64AVX2, manyBlocks4F64AVX2, manyBlocks5F64AVX2, manyBlocks6F64AVX2, manyBlocks7F64AVX2, manyBlocks8F64AVX2},
			{manyBlocks2F64AVX512, manyBlocks3F64AVX512, manyBlocks4F64AVX512, manyBlocks5F64AVX512, manyBlocks6F64AVX512, manyBlocks7F64AVX512, manyBlocks8F64AVX512},
		},
		&manyBlockTable[float32]{
			{manyBlocks2F32AVX2, manyBlocks3F32AVX2, manyBlocks4F32AVX2, manyBlocks5F32AVX2, manyBlocks6F32AVX2, manyBlocks7F32AVX2, manyBlocks8F32AVX2},
			{manyBlocks2F32AVX512, manyBlocks3F32AVX512, manyBlocks4F32AVX512, manyBlocks5F32AVX512, manyBlocks6F32AVX512, manyBlocks7F32AVX512, manyBlocks8F32AVX512},
		},
	)
}
