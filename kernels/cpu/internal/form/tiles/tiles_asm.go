//go:build amd64

package tiles

import (
	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
)

func init() {
	tileTables = simd.KernelsOf(
		&tileTable[float64]{
			{form.Full: tileF64FullAVX2, form.Short: tileF64ShortAVX2, form.Same: tileF64SameAVX2},
			{form.Full: tileTransposedF64FullAVX2, form.Short: tileTransposedF64ShortAVX2, form.Same: tileTransposedF64SameAVX2},
		},
		&tileTable[float32]{
			{form.Full: tileF32FullAVX2, form.Same: tileF32SameAVX2},
			{form.Full: tileTransposedF32FullAVX2, form.Same: tileTransposedF32SameAVX2},
		},
	)
}
