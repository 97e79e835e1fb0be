package simd

import "github.com/klauspost/cpuid/v2"

// Levels returns the levels of this processor in ascending order. The first one is Generic.
func Levels() []Level {
	c := cpuid.CPU
	switch {
	case !c.Supports(cpuid.AVX2, cpuid.FMA3, cpuid.BMI1, cpuid.BMI2, cpuid.LZCNT):
		return []Level{Generic}
	case c.Supports(cpuid.AVX512F, cpuid.AVX512VL, cpuid.AVX512BW, cpuid.AVX512DQ):
		return []Level{Generic, AVX2, AVX512}
	}
	return []Level{Generic, AVX2}
}
