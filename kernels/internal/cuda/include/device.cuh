// The part of the device language that the kernels use. NVRTC and nvcc have it built
// in. For clang, which compiles here without any CUDA header, it is declared through
// clang's builtins.
#pragma once

typedef int i32;
typedef long long i64;
typedef unsigned short u16;

static_assert(sizeof(i32) == 4 && sizeof(i64) == 8, "indices are 32 and 64 bits wide");

// Pair is two consecutive elements that are read and written at once.
template <typename T> struct alignas(2 * sizeof(T)) Pair {
	T a, b;
};

#if defined(__clang__) && !defined(__CUDACC_RTC__) && !defined(__NVCC__)

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))

struct ThreadIdx { __declspec(property(get = get)) int x; static __device__ int get() { return __nvvm_read_ptx_sreg_tid_x(); } };
struct BlockIdx { __declspec(property(get = get)) int x; static __device__ int get() { return __nvvm_read_ptx_sreg_ctaid_x(); } };
struct GridDim { __declspec(property(get = get)) int x; static __device__ int get() { return __nvvm_read_ptx_sreg_nctaid_x(); } };
extern const __device__ __attribute__((weak)) ThreadIdx threadIdx;
extern const __device__ __attribute__((weak)) BlockIdx blockIdx;
extern const __device__ __attribute__((weak)) GridDim gridDim;

// __syncthreads is a clang builtin already.
static __device__ __forceinline__ void __syncwarp() { __nvvm_bar_warp_sync(0xffffffffu); }
static __device__ __forceinline__ int __syncthreads_or(int p) { return __nvvm_bar0_or(p); }
static __device__ __forceinline__ unsigned __ballot_sync(unsigned mask, int p) { return __nvvm_vote_ballot_sync(mask, p); }
static __device__ __forceinline__ unsigned __match_any_sync(unsigned mask, int v) { return __nvvm_match_any_sync_i32(mask, v); }
static __device__ __forceinline__ int __ffs(int v) { return __builtin_ffs(v); }
static __device__ __forceinline__ int __popc(unsigned v) { return __builtin_popcount(v); }

static __device__ __forceinline__ i32 __ldg(const i32* p) { return __nvvm_ldg_i(p); }
static __device__ __forceinline__ i64 __ldg(const i64* p) { return __nvvm_ldg_ll(p); }
static __device__ __forceinline__ float __ldg(const float* p) { return __nvvm_ldg_f(p); }
static __device__ __forceinline__ double __ldg(const double* p) { return __nvvm_ldg_d(p); }

typedef i32 int4 __attribute__((ext_vector_type(4)));
typedef i64 longlong2 __attribute__((ext_vector_type(2)));
static __device__ __forceinline__ int4 __ldg(const int4* p) { return __nvvm_ldg_i4(p); }
static __device__ __forceinline__ longlong2 __ldg(const longlong2* p) { return __nvvm_ldg_ll2(p); }

static __device__ __forceinline__ float atomicAdd(float* p, float v) { return __nvvm_atom_add_gen_f(p, v); }
static __device__ __forceinline__ double atomicAdd(double* p, double v) { return __nvvm_atom_add_gen_d(p, v); }

static __device__ __forceinline__ int atomicCAS(int* p, int old, int v) { return __nvvm_atom_cas_gen_i(p, old, v); }
static __device__ __forceinline__ int atomicOr(int* p, int v) { return __nvvm_atom_or_gen_i(p, v); }
static __device__ __forceinline__ int atomicMin(int* p, int v) { return __nvvm_atom_min_gen_i(p, v); }

// One CUDA shuffle for the four types: 64 bits are shuffled as two halves.
#define MSREP_SHUFFLE(name, builtin, bound)                                                            \
	static __device__ __forceinline__ i32 name(unsigned mask, i32 v, int lane) {                       \
		return builtin(mask, v, lane, bound);                                                          \
	}                                                                                                  \
	static __device__ __forceinline__ float name(unsigned mask, float v, int lane) {                   \
		return __builtin_bit_cast(float, builtin(mask, __builtin_bit_cast(i32, v), lane, bound));      \
	}                                                                                                  \
	static __device__ __forceinline__ i64 name(unsigned mask, i64 v, int lane) {                       \
		unsigned lo = builtin(mask, (i32)v, lane, bound), hi = builtin(mask, (i32)(v >> 32), lane, bound); \
		return (i64)((unsigned long long)hi << 32 | lo);                                               \
	}                                                                                                  \
	static __device__ __forceinline__ double name(unsigned mask, double v, int lane) {                 \
		return __builtin_bit_cast(double, name(mask, __builtin_bit_cast(i64, v), lane));               \
	}
MSREP_SHUFFLE(__shfl_sync, __nvvm_shfl_sync_idx_i32, 31)
MSREP_SHUFFLE(__shfl_xor_sync, __nvvm_shfl_sync_bfly_i32, 31)
MSREP_SHUFFLE(__shfl_down_sync, __nvvm_shfl_sync_down_i32, 31)
MSREP_SHUFFLE(__shfl_up_sync, __nvvm_shfl_sync_up_i32, 0)
#undef MSREP_SHUFFLE

#endif

// Shuffles among all 32 lanes of a warp.
template <typename T> static __device__ __forceinline__ T shfl(T v, int lane) { return __shfl_sync(0xffffffffu, v, lane); }
template <typename T> static __device__ __forceinline__ T shflXor(T v, int mask) { return __shfl_xor_sync(0xffffffffu, v, mask); }
template <typename T> static __device__ __forceinline__ T shflDown(T v, int by) { return __shfl_down_sync(0xffffffffu, v, by); }
template <typename T> static __device__ __forceinline__ T shflUp(T v, int by) { return __shfl_up_sync(0xffffffffu, v, by); }

// ballot returns one bit for each lane of a warp, set if p holds; lowest returns the
// index of the lowest set bit.
static __device__ __forceinline__ unsigned ballot(bool p) { return __ballot_sync(0xffffffffu, p); }
static __device__ __forceinline__ int lowest(unsigned bits) { return __ffs((i32)bits) - 1; }

// ldgPair reads p[0] and p[1], which must be aligned as a pair.
static __device__ __forceinline__ Pair<i64> ldgPair(const i64* p) {
	longlong2 v = __ldg((const longlong2*)p);
	return Pair<i64>{v.x, v.y};
}

// once is __ldg for data that a product reads once, such as values and columns: caches
// evict it first, so that x stays in them. oncePair reads p[0] and p[1], which must be
// aligned as a pair.
#define MSREP_ONCE(T, suffix, reg)                                                                                  \
	static __device__ __forceinline__ T once(const T* p) {                                                          \
		T v;                                                                                                        \
		asm volatile("ld.global.cs.nc." suffix " %0, [%1];" : "=" reg(v) : "l"(p));                                 \
		return v;                                                                                                   \
	}                                                                                                               \
	static __device__ __forceinline__ Pair<T> oncePair(const T* p) {                                                \
		Pair<T> v;                                                                                                  \
		asm volatile("ld.global.cs.nc.v2." suffix " {%0, %1}, [%2];" : "=" reg(v.a), "=" reg(v.b) : "l"(p));        \
		return v;                                                                                                   \
	}
MSREP_ONCE(u16, "u16", "h")
MSREP_ONCE(i32, "u32", "r")
MSREP_ONCE(float, "f32", "f")
MSREP_ONCE(double, "f64", "d")
#undef MSREP_ONCE
