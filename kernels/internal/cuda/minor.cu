// Products of compressed parts that add to y by minor index: y = A*x for CSC, y = A'*x
// for CSR:
//
//   y[idx[k]] += alpha * val[k] * x[r]   for every entry k of each major r
//
// msrep_scale applies beta before. A warp takes a run of consecutive entries, whatever
// majors they belong to, so that long and short majors cost the same. The sums are
// atomic: their order, and so the last bits of y, may differ from run to run. The
// deterministic alternative is a gather kernel on the transposed structure, to which
// msrep_permute copies the values.
#include "include/index.cuh"

static constexpr int block = 128;
static constexpr int resident = 6;  // blocks that fit on a multiprocessor: 80 registers a thread, no spills
static constexpr int steps = 8;
static constexpr int run = 32 * steps;  // entries of a warp

template <typename V>
static __device__ __forceinline__ void scatter(const i64* ptr, const i32* idx, const V* val, const V* x, V* y, i64 rows,
                                               i64 first, i64 end, V alpha) {
	constexpr int warps = block / 32;
	int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
	i64 nnz = end - first;
	// A warp takes consecutive runs, so that their majors are close together.
	Share own = share((nnz + run - 1) / run, (i64)blockIdx.x * warps + warp, (i64)gridDim.x * warps);
	i64 b = own.first, stop = own.past;
	i64 r1 = b < stop ? majorOf(ptr, 0, rows - 1, b * run + first) : 0;
	for (; b < stop; b++) {
		i64 s = b * run, e = least(s + run, nnz);
		int entries = (int)(e - s);
		i32 at[steps];
		V a[steps];
#pragma unroll
		for (int i = 0; i < steps; i++) {
			int k = i * 32 + lane;
			at[i] = -1;
			a[i] = V(0);
			if (k < entries) {
				at[i] = once(idx + s + k);
				a[i] = once(val + s + k);
			}
		}
		// Entry k is in the last major that begins at or before k.
		i64 r0 = r1;
		r1 = majorNear(ptr, r0, rows - 1, e - 1 + first);
#pragma unroll
		for (int i = 0; i < steps; i++)
			if (at[i] >= 0)
				atomicAdd(y + at[i], a[i] * (alpha * __ldg(x + majorOf(ptr, r0, r1, s + i * 32 + lane + first))));
	}
}

#define MSREP_SCATTER(suffix, V)                                                                                    \
	extern "C" __global__ void __launch_bounds__(block, resident) msrep_minor_##suffix(                                     \
	    const i64* ptr, const i32* idx, const V* val, const V* x, V* y, i64 rows, i64 first, i64 end, V alpha) {        \
		scatter<V>(ptr, idx, val, x, y, rows, first, end, alpha);                                                   \
	}
MSREP_SCATTER(f64, double)
MSREP_SCATTER(f32, float)
