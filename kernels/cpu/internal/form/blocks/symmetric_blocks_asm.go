//go:build amd64

package blocks

import "github.com/msrep-go/msrep/internal/simd"

func init() {
	symmetricBlockTables = simd.KernelsOf(
		&symmetricBlockTable[float64]{symmetricBlocks2F64AVX2, symmetricBlocks3F64AVX2, symmetricBlocks4F64AVX2, symmetricBlocks5F64AVX2, symmetricBlocks6F64AVX2},
		&symmetricBlockTable[float32]{symmetricBlocks2F32AVX2, symmetricBlocks3F32AVX2, symmetricBlocks4F32AVX2, symmetricBlocks5F32AVX2, symmetricBlocks6F32AVX2},
	)
}
