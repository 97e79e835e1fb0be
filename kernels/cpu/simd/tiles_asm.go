//go:build amd64

package simd

var tileTables = kernels{
	&tileTable[float64]{
		{Full: tileF64FullAVX2, Short: tileF64ShortAVX2, Same: tileF64SameAVX2},
		{Full: tileTransposedF64FullAVX2, Short: tileTransposedF64ShortAVX2, Same: tileTransposedF64SameAVX2},
	},
	&tileTable[float32]{
		{Full: tileF32FullAVX2, Same: tileF32SameAVX2},
		{Full: tileTransposedF32FullAVX2, Same: tileTransposedF32SameAVX2},
	},
}
