// The CSR kernels that the PELLR paper compares its format with (Figure 12): CSRS has
// one thread for each row, CSRV half a warp for each row. They serve only as baselines;
// products use msrep_major_vector and msrep_major_merge.
#include "include/place.cuh"

static constexpr int block = 128;
static constexpr int half = 16;

// bounds computes the range of entries of row r that belong to the part.
static __device__ __forceinline__ void bounds(const i64* ptr, i64 r, i64 first, i64 end, i64& lo, i64& hi) {
	lo = clamp(__ldg(ptr + r), first, end) - first;
	hi = clamp(__ldg(ptr + r + 1), first, end) - first;
}

template <typename V>
static __device__ __forceinline__ void gatherScalar(const i64* ptr, const i32* idx, const V* val, const V* x, V* y, V* carry,
                                                    i64 rows, i64 first, i64 end, i64 skip, V alpha, V beta) {
	for (i64 r = threadOf(block); r < rows; r += threads(block)) {
		i64 k, hi;
		bounds(ptr, r, first, end, k, hi);
		V sum = V(0);
#pragma unroll 1
		for (; k < hi; k++)
			sum += __ldg(val + k) * __ldg(x + __ldg(idx + k));
		finish<V>(0, y, carry, r, skip, alpha, sum, beta);
	}
}

template <typename V>
static __device__ __forceinline__ void gatherHalf(const i64* ptr, const i32* idx, const V* val, const V* x, V* y, V* carry,
                                                  i64 rows, i64 first, i64 end, i64 skip, V alpha, V beta) {
	int lane = threadIdx.x & (half - 1);
	// Both halves of a warp take the same number of rounds, because they shuffle
	// together.
	i64 rounds = (rows + threads(block) / half - 1) / (threads(block) / half);
	for (i64 round = 0; round < rounds; round++) {
		i64 r = (round * threads(block) + threadOf(block)) / half;
		V sum = V(0);
		if (r < rows) {
			i64 k, hi;
			bounds(ptr, r, first, end, k, hi);
#pragma unroll 1
			for (k += lane; k < hi; k += half)
				sum += __ldg(val + k) * __ldg(x + __ldg(idx + k));
		}
		__syncwarp();
#pragma unroll
		for (int d = half / 2; d > 0; d /= 2)
			sum += shflXor(sum, d);
		if (lane == 0 && r < rows)
			finish<V>(0, y, carry, r, skip, alpha, sum, beta);
		__syncwarp();
	}
}

#define MSREP_ELL_RIVALS(suffix, V)                                                                                    \
	extern "C" __global__ void __launch_bounds__(block) msrep_major_csrs_##suffix(                                    \
	    const i64* ptr, const i32* idx, const V* val, const V* x, V* y, V* carry, i64 rows, i64 first, i64 end,        \
	    i64 skip, V alpha, V beta) {                                                                                   \
		gatherScalar<V>(ptr, idx, val, x, y, carry, rows, first, end, skip, alpha, beta);                              \
	}                                                                                                                  \
	extern "C" __global__ void __launch_bounds__(block) msrep_major_csrv_##suffix(                                    \
	    const i64* ptr, const i32* idx, const V* val, const V* x, V* y, V* carry, i64 rows, i64 first, i64 end,        \
	    i64 skip, V alpha, V beta) {                                                                                   \
		gatherHalf<V>(ptr, idx, val, x, y, carry, rows, first, end, skip, alpha, beta);                                \
	}
MSREP_ELL_RIVALS(f64, double)
MSREP_ELL_RIVALS(f32, float)
