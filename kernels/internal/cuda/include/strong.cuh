// Accesses to words that one block writes while others read them. Each access is a
// single operation on memory that all blocks see. It orders no other access: a reader
// may rely on the word itself only.
#pragma once

#include "device.cuh"

// readStrong reads global or shared memory, writeStrong writes it.
#define MSREP_STRONG(T, suffix, reg)                                                                       \
	static __device__ __forceinline__ T readStrong(const T* p) {                                           \
		T v;                                                                                               \
		asm volatile("ld.relaxed.gpu." suffix " %0, [%1];" : "=" reg(v) : "l"(p));                         \
		return v;                                                                                          \
	}                                                                                                      \
	static __device__ __forceinline__ void writeStrong(T* p, T v) {                                        \
		asm volatile("st.relaxed.gpu." suffix " [%0], %1;" : : "l"(p), reg(v));                            \
	}
MSREP_STRONG(float, "f32", "f")
MSREP_STRONG(double, "f64", "d")
#undef MSREP_STRONG

// takeTicket returns *p and adds 1 to it. raise sets *p to v if that is more.
static __device__ __forceinline__ i32 takeTicket(i32* p) {
	i32 v;
	asm volatile("atom.relaxed.gpu.global.add.u32 %0, [%1], 1;" : "=r"(v) : "l"(p));
	return v;
}
static __device__ __forceinline__ void raise(i32* p, i32 v) {
	asm volatile("red.relaxed.gpu.global.max.s32 [%0], %1;" : : "l"(p), "r"(v));
}
