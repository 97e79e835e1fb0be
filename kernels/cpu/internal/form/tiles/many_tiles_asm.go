//go:build amd64

package tiles

import "github.com/msrep-go/msrep/internal/simd"

func init() {
	manyTileTables = simd.KernelsOf(
		&manyTileTable[float64]{manyTileF64AVX2Half, manyTileF64AVX2, manyTileF64AVX512},
		&manyTileTable[float32]{manyTileF32AVX2Half, manyTileF32AVX2, manyTileF32AVX512},
	)
}
