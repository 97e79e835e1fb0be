// y = alpha*A*x + beta*y with jagged diagonals and with bisected warps. As in ell.cu,
// place i holds row perm[i], and a place without an entry has idx = -1.
#include "include/place.cuh"

static constexpr int block = 128;
static constexpr int groups = 6;  // groups of a bisected warp: 32, 16, 8, 4, 2 rows and 1

// Jagged diagonals: entry k of place i is at start[k] + i, for i < start[k+1] -
// start[k].
template <typename V>
static __device__ __forceinline__ void gatherJAD(const i32* idx, const V* val, const i64* start, const i32* perm, const V* x,
                                                 V* y, V* carry, i64 rows, i64 diagonals, i64 skip, V alpha, V beta) {
	for (i64 i = threadOf(block); i < rows; i += threads(block)) {
		V sum = V(0);
		i64 k = 0;
		i64 at = __ldg(start) + i, end = diagonals > 0 ? __ldg(start + 1) : 0;
#pragma unroll 1
		while (at < end) {
			i64 here = at;
			k++;
			at = end + i;
			end = k < diagonals ? __ldg(start + k + 1) : 0;
			sum += __ldg(val + here) * __ldg(x + __ldg(idx + here));
		}
		finish<V>(perm, y, carry, i, skip, alpha, sum, beta);
	}
}

// Bisected warps: in a step of group g, lane t has an entry of row t mod 32>>g. From
// the last group to the first, the lanes of the upper half of each run of rows pass
// their sums to the lanes of the lower half, which hold the same rows.
template <typename V>
static __device__ __forceinline__ void gatherBisected(const i32* idx, const V* val, const i64* start, const i32* perm,
                                                      const V* x, V* y, V* carry, i64 rows, i64 skip, V alpha, V beta) {
	int lane = threadIdx.x & 31;
	i64 warps = (rows + 31) / 32;
	for (i64 w = threadOf(block) / 32; w < warps; w += threads(block) / 32) {
		V sum = V(0);
		i64 end = __ldg(start + groups * w + groups);
#pragma unroll 1
		for (int g = groups - 1; g >= 0; g--) {
			i64 begin = __ldg(start + groups * w + g);
#pragma unroll 1
			for (i64 at = begin + lane; at < end; at += 32) {
				i32 col = __ldg(idx + at);
				V a = __ldg(val + at);
				if (col >= 0)
					sum += a * __ldg(x + col);
			}
			end = begin;
			__syncwarp();
			if (g > 0) {
				int n = 32 >> g;
				V other = shflXor(sum, n);
				sum = (lane & n) == 0 ? sum + other : V(0);
			}
		}
		i64 i = 32 * w + lane;
		if (i < rows)
			finish<V>(perm, y, carry, i, skip, alpha, sum, beta);
		__syncwarp();
	}
}

#define MSREP_ELL_SORTED(suffix, V)                                                                                    \
	extern "C" __global__ void __launch_bounds__(block) msrep_major_jad_##suffix(                                     \
	    const i32* idx, const V* val, const i64* start, const i32* perm, const V* x, V* y, V* carry, i64 rows,         \
	    i64 diagonals, i64 skip, V alpha, V beta) {                                                                    \
		gatherJAD<V>(idx, val, start, perm, x, y, carry, rows, diagonals, skip, alpha, beta);                          \
	}                                                                                                                  \
	extern "C" __global__ void __launch_bounds__(block) msrep_major_bisected_##suffix(                                \
	    const i32* idx, const V* val, const i64* start, const i32* perm, const V* x, V* y, V* carry, i64 rows,         \
	    i64 skip, V alpha, V beta) {                                                                                   \
		gatherBisected<V>(idx, val, start, perm, x, y, carry, rows, skip, alpha, beta);                                \
	}
MSREP_ELL_SORTED(f64, double)
MSREP_ELL_SORTED(f32, float)
