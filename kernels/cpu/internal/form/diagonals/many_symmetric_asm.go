//go:build amd64

package diagonals

import "github.com/msrep-go/msrep/internal/simd"

func init() {
	manySymmetricTables = simd.KernelsOf(
		&manySymmetricTable[float64]{manySymmetricDiagonalsF64AVX2, manySymmetricDiagonalsF64AVX512},
		&manySymmetricTable[float32]{manySymmetricDiagonalsF32AVX2, manySymmetricDiagonalsF32AVX512},
	)
}
