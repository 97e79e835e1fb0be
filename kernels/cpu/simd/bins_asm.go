//go:build amd64

package simd

var (
	multiplyBinTables = kernels{
		&binTable[float64]{Full: multiplyBinF64FullAVX2, Short: multiplyBinF64ShortAVX2, Same: multiplyBinF64SameAVX2},
		&binTable[float32]{Full: multiplyBinF32FullAVX2, Same: multiplyBinF32SameAVX2},
	}
	multiplyBinOfTwoTables = kernels{
		&binTable[float64]{Full: multiplyBinOfTwoF64FullAVX2, Short: multiplyBinOfTwoF64ShortAVX2, Same: multiplyBinOfTwoF64SameAVX2},
		&binTable[float32]{Full: multiplyBinOfTwoF32FullAVX2, Same: multiplyBinOfTwoF32SameAVX2},
	}
	spreadBinTables = kernels{
		&binTable[float64]{Full: spreadBinF64FullAVX2, Short: spreadBinF64ShortAVX2, Same: spreadBinF64SameAVX2},
		&binTable[float32]{Full: spreadBinF32FullAVX2, Same: spreadBinF32SameAVX2},
	}
	copyBinKernels      = kernels{copyBinKernel[float64](copyBinsF64AVX2), copyBinKernel[float32](copyBinsF32AVX2)}
	copyBinOfTwoKernels = kernels{copyBinOfTwoKernel[float64](copyBinsOfTwoF64AVX2), copyBinOfTwoKernel[float32](copyBinsOfTwoF32AVX2)}
	addBinRunKernels    = kernels{addBinRunKernel[float64](addBinRunsF64AVX2), addBinRunKernel[float32](addBinRunsF32AVX2)}
)
