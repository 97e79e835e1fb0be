// Arithmetic that clang does not declare, and NaNs.
#pragma once

#include "device.cuh"

#if defined(__clang__) && !defined(__CUDACC_RTC__) && !defined(__NVCC__)
static __device__ __forceinline__ double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
static __device__ __forceinline__ float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
static __device__ __forceinline__ double sqrt(double v) { return __nvvm_sqrt_rn_d(v); }
#endif

// largest is the largest finite double.
static constexpr double largest = 0x1.fffffffffffffp1023;

// quiet returns v, or the quiet NaN without a payload in place of any NaN.
static __device__ __forceinline__ double quiet(double v) {
	return v == v ? v : __builtin_bit_cast(double, 0x7FF8000000000000ll);
}
static __device__ __forceinline__ float quiet(float v) { return v == v ? v : __builtin_bit_cast(float, 0x7FC00000); }
