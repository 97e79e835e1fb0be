package form

import (
	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/sparse"
)

// FastSymmetricMany reports whether AddSymmetricMany and MultiplySymmetricBlocksMany have kernels
// at this level. At other levels they run in plain Go.
func FastSymmetricMany(l simd.Level) bool { return l >= simd.AVX2 }

// SymmetricColumns returns how many of cols columns AddSymmetricMany and
// MultiplySymmetricBlocksMany multiply: as many as fill AVX2 registers.
func SymmetricColumns[V sparse.Value](cols int) int {
	half := VectorsAtOnce[V]() / 2
	return cols / half * half
}

// SymmetricPanel returns how many columns, from column c on, a kernel multiplies.
func SymmetricPanel[V sparse.Value](l simd.Level, b MultiVector[V], c int) int {
	if all := VectorsAtOnce[V](); l >= simd.AVX512 && b.Cols-c >= all {
		return all
	}
	return VectorsAtOnce[V]() / 2
}

// Filled returns Level-AVX2 of the registers that cols columns fill; see symmetricPanel.
func Filled[V sparse.Value](cols int) int { return cols / VectorsAtOnce[V]() }
