//go:build amd64

package vec

var vectorKernels = [2]vectorTable{
	{dotF64AVX2, dotsF64AVX2, axpyF64AVX2, axpyScaledF64AVX2, updateDirectionF64AVX2, updateDirectionScaledF64AVX2, bicgstabDirectionF64AVX2, bicgstabStepF64AVX2, axpyFourF64AVX2, dotFourTwoF64AVX2, axpyFourTwoF64AVX2, dotManyF64AVX2, axpyManyF64AVX2, updateDirectionManyF64AVX2, scaleManyF64AVX2},
	{dotF64AVX512, dotsF64AVX512, axpyF64AVX512, axpyScaledF64AVX512, updateDirectionF64AVX512, updateDirectionScaledF64AVX512, bicgstabDirectionF64AVX512, bicgstabStepF64AVX512, axpyFourF64AVX512, dotFourTwoF64AVX512, axpyFourTwoF64AVX512, dotManyF64AVX512, axpyManyF64AVX512, updateDirectionManyF64AVX512, scaleManyF64AVX512},
}

// dotFourTwoF64AVX2 multiplies two x at a time: the sums of four do not fit in the registers.
func dotFourTwoF64AVX2(n int, x0, x1, x2, x3, y, z *float64, s0, s1, s2, s3, t0, t1, t2, t3 *[8]float64) {
	dotTwoTwoF64AVX2(n, x0, x1, y, z, s0, s1, t0, t1)
	dotTwoTwoF64AVX2(n, x2, x3, y, z, s2, s3, t2, t3)
}
