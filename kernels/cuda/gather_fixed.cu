// Gather with sums of a fixed shape (kernels.GatherFixed), for parts of whole rows:
//
//	y[r] = alpha * sum over k of val[k]*x[idx[k]] + beta*y[r]
//
// Eight lanes take a row of up to one chunk, so a warp takes four rows; all lanes
// together take each row that is longer. The bits are those of every other device.
#include "include/index.cuh"

static constexpr int block = 128;
static constexpr int lanes = 8;     // kernels.FixedLanes
static constexpr int chunk = 1024;  // kernels.FixedChunk
static constexpr int stripes = 4;   // kernels.FixedStripes
static_assert(lanes * stripes == 32, "a warp has a stripe for each group of lanes");

static __device__ __forceinline__ double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
static __device__ __forceinline__ float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }

static __device__ __forceinline__ double quiet(double v) {
	return v == v ? v : __builtin_bit_cast(double, 0x7FF8000000000000ll);
}
static __device__ __forceinline__ float quiet(float v) { return v == v ? v : __builtin_bit_cast(float, 0x7FC00000); }

// chunkSum is the sum of the entries [k, end), for the lanes of a group. All lanes of
// the warp must call it.
template <typename V>
static __device__ __forceinline__ V chunkSum(const i32* idx, const V* val, const V* x, i64 k, i64 end) {
	V sum = V(0);
	i64 whole = end - (end - k) % lanes;
#pragma unroll 1
	for (i64 i = k + threadIdx.x % lanes; i < whole; i += lanes)
		sum = fma(__ldg(val + i), __ldg(x + __ldg(idx + i)), sum);
	if (sizeof(V) == 4)
		sum += V(0);
#pragma unroll
	for (int d = lanes / 2; d > 0; d /= 2)
		sum += shflXor(sum, d);
#pragma unroll 1
	for (i64 i = whole; i < end; i++)
		sum = fma(__ldg(val + i), __ldg(x + __ldg(idx + i)), sum);
	return sum;
}

template <typename V>
static __device__ __forceinline__ void gatherFixed(const i64* ptr, const i32* idx, const V* val, const V* x, V* y, i64 rows,
                                                   i64 first, V alpha, V beta) {
	int lane = threadIdx.x & 31, group = lane / lanes;
	i64 warps = threads(block) / 32;
	for (i64 top = threadOf(block) / 32 * stripes; top < rows; top += warps * stripes) {
		i64 r = top + group;
		i64 lo = __ldg(ptr + least(r, rows)) - first, hi = __ldg(ptr + least(r + 1, rows)) - first;
		V sum = chunkSum(idx, val, x, hi - lo > chunk ? hi : lo, hi);
#pragma unroll 1
		for (int g = 0; g < stripes; g++) {
			i64 from = shfl(lo, g * lanes), to = shfl(hi, g * lanes);
			if (to - from <= chunk)
				continue;
			V stripe = V(0);
#pragma unroll 1
			for (i64 c = from; c < to; c += stripes * chunk) {
				i64 k = least(c + group * chunk, to);
				V part = chunkSum(idx, val, x, k, least(k + chunk, to));
				if (k < to)
					stripe += part;
			}
#pragma unroll
			for (int d = lanes; d < 32; d *= 2)
				stripe += shflXor(stripe, d);
			if (group == g)
				sum = stripe;
		}
		if (lane % lanes == 0 && r < rows) {
			V v = alpha * sum;
			if (beta != V(0))
				v = fma(beta, y[r], v);
			y[r] = quiet(v);
		}
	}
}

#define MSREP_GATHER_FIXED(suffix, V)                                                                                \
	extern "C" __global__ void __launch_bounds__(block) msrep_gather_fixed_##suffix(                                 \
	    const i64* ptr, const i32* idx, const V* val, const V* x, V* y, i64 rows, i64 first, V alpha, V beta) {      \
		gatherFixed<V>(ptr, idx, val, x, y, rows, first, alpha, beta);                                               \
	}
MSREP_GATHER_FIXED(f64, double)
MSREP_GATHER_FIXED(f32, float)
