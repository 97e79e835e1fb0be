// Gather with sums of a fixed shape (kernels.GatherFixed), for parts of whole rows:
//
//	y[r] = alpha * sum over k of val[k]*x[idx[k]] + beta*y[r]
//
// Four lanes take a row of up to one chunk, so a warp takes eight rows; all lanes
// together take each row that is longer. Sums are of double, by fused multiply-add:
// the bits are those of every other device.
#include "include/index.cuh"

static constexpr int block = 128;
static constexpr int lanes = 4;     // kernels.FixedLanes
static constexpr int chunk = 256;   // kernels.FixedChunk
static constexpr int stripes = 8;   // kernels.FixedStripes
static_assert(lanes * stripes == 32, "a warp has a stripe for each group of lanes");

static __device__ __forceinline__ double quiet(double v) {
	return v == v ? v : __builtin_bit_cast(double, 0x7FF8000000000000ll);
}
static __device__ __forceinline__ float quiet(float v) { return v == v ? v : __builtin_bit_cast(float, 0x7FC00000); }

// laneSum is what one lane of a chunk [k, end) sums.
template <typename V>
static __device__ __forceinline__ double laneSum(const i32* idx, const V* val, const V* x, i64 k, i64 end) {
	double sum = 0;
#pragma unroll 1
	for (k += threadIdx.x % lanes; k < end; k += lanes)
		sum = __builtin_fma((double)__ldg(val + k), (double)__ldg(x + __ldg(idx + k)), sum);
	return sum;
}

// chunkSum joins the lanes of each group.
static __device__ __forceinline__ double chunkSum(double sum) {
	sum += shflXor(sum, 1);
	return sum + shflXor(sum, 2);
}

template <typename V>
static __device__ __forceinline__ void gatherFixed(const i64* ptr, const i32* idx, const V* val, const V* x, V* y, i64 rows,
                                                   i64 first, V alpha, V beta) {
	int lane = threadIdx.x & 31, group = lane / lanes;
	i64 warps = threads(block) / 32;
	for (i64 top = threadOf(block) / 32 * stripes; top < rows; top += warps * stripes) {
		i64 r = top + group;
		i64 lo = __ldg(ptr + least(r, rows)) - first, hi = __ldg(ptr + least(r + 1, rows)) - first;
		double sum = chunkSum(laneSum(idx, val, x, lo, hi - lo > chunk ? lo : hi));
#pragma unroll 1
		for (int g = 0; g < stripes; g++) {
			i64 from = shfl(lo, g * lanes), to = shfl(hi, g * lanes);
			if (to - from <= chunk)
				continue;
			double stripe = 0;
#pragma unroll 1
			for (i64 c = from; c < to; c += stripes * chunk) {
				i64 k = c + group * chunk;
				double part = chunkSum(laneSum(idx, val, x, k, least(k + chunk, to)));
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
			double v = (double)alpha * sum;
			if (beta != V(0))
				v = __builtin_fma((double)beta, (double)y[r], v);
			y[r] = quiet((V)v);
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
