//go:build amd64

package simd

var vectorKernels = [2]vectorTable{
	{dotF64AVX2, dotsF64AVX2, axpyF64AVX2, axpyScaledF64AVX2, moveF64AVX2, moveScaledF64AVX2, turnF64AVX2, stabiliseF64AVX2, dotFourF64AVX2, axpyFourF64AVX2},
	{dotF64AVX512, dotsF64AVX512, axpyF64AVX512, axpyScaledF64AVX512, moveF64AVX512, moveScaledF64AVX512, turnF64AVX512, stabiliseF64AVX512, dotFourF64AVX512, axpyFourF64AVX512},
}
