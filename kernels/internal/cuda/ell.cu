// y = alpha*A*x + beta*y with ELLPACK and related formats, one thread for each row:
//
//   y[r] = alpha * sum over k of val[k]*x[idx[k]] + beta*y[r],   r = perm[i] for place i
//
// The entries of a step are contiguous, so that a warp reads them in one run. A place
// without an entry has idx = -1 and is skipped, because 0 times an infinity is not 0.
// perm = 0 means that the rows are in order. The loops take one entry of each row per
// step, so a warp takes as many steps as Equation (1) of the PELLR paper says. The
// index and the value of the next step are loaded ahead.
#include "include/place.cuh"

static constexpr int block = 128;

// walk returns the sum over `steps` places, `stride` apart, from `at` on. Without
// marked, every place is an entry.
template <typename V, bool marked>
static __device__ __forceinline__ V walk(const i32* idx, const V* val, const V* x, i64 at, i64 stride, i32 steps) {
	V sum = V(0);
	i32 col = -1;
	V a = V(0);
	if (steps > 0) {
		col = __ldg(idx + at);
		a = __ldg(val + at);
	}
#pragma unroll 1
	for (i32 k = 1; k <= steps; k++) {
		i32 c = col;
		V v = a;
		at += stride;
		if (k < steps) {
			col = __ldg(idx + at);
			a = __ldg(val + at);
		}
		if (!marked || c >= 0)
			sum += v * __ldg(x + c);
	}
	return sum;
}

template <typename V>
static __device__ __forceinline__ void gatherELL(const i32* idx, const V* val, const V* x, V* y, V* carry, i64 rows,
                                                 i64 stride, i64 width, i64 skip, V alpha, V beta) {
	for (i64 i = threadOf(block); i < rows; i += threads(block))
		finish<V>(0, y, carry, i, skip, alpha, walk<V, true>(idx, val, x, i, stride, (i32)width), beta);
}

// where returns the index of entry 0 of place i: i, or lane i%32 of its warp in arrays
// that are cut into warps.
static __device__ __forceinline__ i64 where(const i64* start, i64 i) {
	return start ? __ldg(start + i / 32) + i % 32 : i;
}

template <typename V>
static __device__ __forceinline__ void gatherELLR(const i32* idx, const V* val, const i32* length, const i64* start,
                                                  const i32* perm, const V* x, V* y, V* carry, i64 rows, i64 stride,
                                                  i64 skip, V alpha, V beta) {
	for (i64 i = threadOf(block); i < rows; i += threads(block))
		finish<V>(perm, y, carry, i, skip, alpha, walk<V, false>(idx, val, x, where(start, i), stride, __ldg(length + i)), beta);
}

template <typename V>
static __device__ __forceinline__ void gatherPELLRWarp(const i32* idx, const V* val, const i32* length, const i64* start,
                                                       const i32* perm, const V* x, V* y, V* carry, i64 rows, i64 stride,
                                                       i64 skip, V alpha, V beta) {
	for (i64 i = threadOf(block); i < rows; i += threads(block))
		finish<V>(perm, y, carry, i, skip, alpha, walk<V, true>(idx, val, x, where(start, i), stride, __ldg(length + i / 32)), beta);
}

// SELL-32-sigma: the slice of a warp is as wide as its longest row. The entries of four
// steps are loaded before the first x is needed.
template <typename V>
static __device__ __forceinline__ void gatherSELL(const i32* idx, const V* val, const i64* start, const i32* perm,
                                                  const V* x, V* y, V* carry, i64 rows, i64 skip, V alpha, V beta) {
	constexpr int ahead = 4;
	for (i64 i = threadOf(block); i < rows; i += threads(block)) {
		i64 at = where(start, i), end = __ldg(start + i / 32 + 1);
		V sum = V(0);
#pragma unroll 1
		for (; at + 32 * (ahead - 1) < end; at += 32 * ahead) {
			i32 col[ahead];
			V a[ahead];
#pragma unroll
			for (int k = 0; k < ahead; k++) {
				col[k] = __ldg(idx + at + 32 * k);
				a[k] = __ldg(val + at + 32 * k);
			}
			V v[ahead];
#pragma unroll
			for (int k = 0; k < ahead; k++) {
				v[k] = __ldg(x + most(col[k], 0));
				if (col[k] < 0)
					v[k] = a[k] = V(0);
			}
#pragma unroll
			for (int k = 0; k < ahead; k++)
				sum += a[k] * v[k];
		}
#pragma unroll 1
		for (; at < end; at += 32) {
			i32 col = __ldg(idx + at);
			V a = __ldg(val + at);
			if (col >= 0)
				sum += a * __ldg(x + col);
		}
		finish<V>(perm, y, carry, i, skip, alpha, sum, beta);
	}
}

#define MSREP_ELL(suffix, V)                                                                                           \
	extern "C" __global__ void __launch_bounds__(block) msrep_major_ell_##suffix(                                     \
	    const i32* idx, const V* val, const V* x, V* y, V* carry, i64 rows, i64 stride, i64 width, i64 skip, V alpha,  \
	    V beta) {                                                                                                      \
		gatherELL<V>(idx, val, x, y, carry, rows, stride, width, skip, alpha, beta);                                   \
	}                                                                                                                  \
	extern "C" __global__ void __launch_bounds__(block) msrep_major_ellr_##suffix(                                    \
	    const i32* idx, const V* val, const i32* length, const i64* start, const i32* perm, const V* x, V* y,          \
	    V* carry, i64 rows, i64 stride, i64 skip, V alpha, V beta) {                                                   \
		gatherELLR<V>(idx, val, length, start, perm, x, y, carry, rows, stride, skip, alpha, beta);                    \
	}                                                                                                                  \
	extern "C" __global__ void __launch_bounds__(block) msrep_major_pellr_warp_##suffix(                              \
	    const i32* idx, const V* val, const i32* length, const i64* start, const i32* perm, const V* x, V* y,          \
	    V* carry, i64 rows, i64 stride, i64 skip, V alpha, V beta) {                                                   \
		gatherPELLRWarp<V>(idx, val, length, start, perm, x, y, carry, rows, stride, skip, alpha, beta);               \
	}                                                                                                                  \
	extern "C" __global__ void __launch_bounds__(block) msrep_major_sell_##suffix(                                    \
	    const i32* idx, const V* val, const i64* start, const i32* perm, const V* x, V* y, V* carry, i64 rows,         \
	    i64 skip, V alpha, V beta) {                                                                                   \
		gatherSELL<V>(idx, val, start, perm, x, y, carry, rows, skip, alpha, beta);                                    \
	}
MSREP_ELL(f64, double)
MSREP_ELL(f32, float)
