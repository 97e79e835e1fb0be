//go:build amd64

package bins

import (
	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
)

func init() {
	multiplyBinTables = simd.KernelsOf(
		&binTable[float64]{form.Full: multiplyBinF64FullAVX2, form.Short: multiplyBinF64ShortAVX2, form.Same: multiplyBinF64SameAVX2},
		&binTable[float32]{form.Full: multiplyBinF32FullAVX2, form.Same: multiplyBinF32SameAVX2},
	)
	multiplyBinOfTwoTables = simd.KernelsOf(
		&binTable[float64]{form.Full: multiplyBinOfTwoF64FullAVX2, form.Short: multiplyBinOfTwoF64ShortAVX2, form.Same: multiplyBinOfTwoF64SameAVX2},
		&binTable[float32]{form.Full: multiplyBinOfTwoF32FullAVX2, form.Same: multiplyBinOfTwoF32SameAVX2},
	)
	spreadBinTables = simd.KernelsOf(
		&binTable[float64]{form.Full: spreadBinF64FullAVX2, form.Short: spreadBinF64ShortAVX2, form.Same: spreadBinF64SameAVX2},
		&binTable[float32]{form.Full: spreadBinF32FullAVX2, form.Same: spreadBinF32SameAVX2},
	)
	copyBinKernels = simd.KernelsOf(copyBinKernel[float64](copyBinsF64AVX2), copyBinKernel[float32](copyBinsF32AVX2))
	copyBinOfTwoKernels = simd.KernelsOf(copyBinOfTwoKernel[float64](copyBinsOfTwoF64AVX2), copyBinOfTwoKernel[float32](copyBinsOfTwoF32AVX2))
	addBinRunKernels = simd.KernelsOf(addBinRunKernel[float64](addBinRunsF64AVX2), addBinRunKernel[float32](addBinRunsF32AVX2))
}
