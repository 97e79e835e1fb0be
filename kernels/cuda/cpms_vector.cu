// Vectors in segments, for PageRank on a device (section 4.3 of the CPMS paper): all
// arithmetic is in float64. Sums are one of each block, in an order that depends on
// n and the grid alone; msrep_total adds them up.
//
//	norm1   partial[b] = sum of |p[i]|
//	scale   p[i] = factor*p[i]
//	pick    partial[b] = sum of p[node[i]]: the dangling nodes
//	rank    next[i] = sum[i] + add,  partial[b] = sum of |next[i] - cur[i]|
//
// rank reads the first K segments of cur and writes the first W of next, which is
// more than K where the precision changes.
#include "include/sum.cuh"
#include "include/segments.cuh"

static constexpr int block = 256;

static __device__ __forceinline__ double absolute(double v) { return v < 0 ? -v : v; }

template <int S, int K> static __device__ __forceinline__ Segments<S, K> vectorOf(const i32* p, i64 n, i64 shift) {
	return Segments<S, K>{(typename Segments<S, K>::T*)p, n, shift};
}

static __device__ __forceinline__ void leave(double sum, double* partial) {
	sum = blockSum<block>(sum);
	if (threadIdx.x == 0)
		partial[blockIdx.x] = sum;
}

template <int S, int K> static __device__ __forceinline__ void norm1(const i32* p, double* partial, i64 n, i64 shift) {
	Segments<S, K> v = vectorOf<S, K>(p, n, shift);
	double sum = 0;
	for (i64 i = threadOf(block); i < n; i += threads(block))
		sum += absolute(v.read(i));
	leave(sum, partial);
}

template <int S, int K> static __device__ __forceinline__ void scale(i32* p, i64 n, i64 shift, double factor) {
	Segments<S, K> v = vectorOf<S, K>(p, n, shift);
	for (i64 i = threadOf(block); i < n; i += threads(block))
		v.write(i, factor * v.read(i));
}

template <int S, int K>
static __device__ __forceinline__ void pick(const i32* p, const i32* node, double* partial, i64 count, i64 n, i64 shift) {
	Segments<S, K> v = vectorOf<S, K>(p, n, shift);
	double sum = 0;
	for (i64 i = threadOf(block); i < count; i += threads(block))
		sum += v.read(__ldg(node + i));
	leave(sum, partial);
}

template <int S, int K, int W>
static __device__ __forceinline__ void rank(const double* sums, const i32* cur, i32* next, double* partial, i64 n, i64 shift,
                                            double add) {
	Segments<S, K> old = vectorOf<S, K>(cur, n, shift);
	Segments<S, W> out = vectorOf<S, W>(next, n, shift);
	double sum = 0;
	for (i64 i = threadOf(block); i < n; i += threads(block)) {
		out.write(i, __ldg(sums + i) + add);
		sum += absolute(out.read(i) - old.read(i));
	}
	leave(sum, partial);
}

#define MSREP_CPMS_VECTOR(K, S)                                                                                          \
	extern "C" __global__ void __launch_bounds__(block) msrep_cpms_norm1_##K##of##S(const i32* p, double* partial, i64 n, \
	                                                                                i64 shift) {                           \
		norm1<S, K>(p, partial, n, shift);                                                                               \
	}                                                                                                                    \
	extern "C" __global__ void __launch_bounds__(block) msrep_cpms_scale_##K##of##S(i32* p, i64 n, i64 shift,            \
	                                                                                double factor) {                       \
		scale<S, K>(p, n, shift, factor);                                                                                \
	}                                                                                                                    \
	extern "C" __global__ void __launch_bounds__(block) msrep_cpms_pick_##K##of##S(                                    \
	    const i32* p, const i32* node, double* partial, i64 count, i64 n, i64 shift) {                                           \
		pick<S, K>(p, node, partial, count, n, shift);                                                                   \
	}
MSREP_CPMS_VECTOR(1, 2)
MSREP_CPMS_VECTOR(2, 2)
MSREP_CPMS_VECTOR(1, 4)
MSREP_CPMS_VECTOR(2, 4)
MSREP_CPMS_VECTOR(3, 4)
MSREP_CPMS_VECTOR(4, 4)

#define MSREP_CPMS_RANK(K, W, S)                                                                                         \
	extern "C" __global__ void __launch_bounds__(block) msrep_cpms_rank_##K##to##W##of##S(                           \
	    const double* sums, const i32* cur, i32* next, double* partial, i64 n, i64 shift, double add) {                        \
		rank<S, K, W>(sums, cur, next, partial, n, shift, add);                                                          \
	}
MSREP_CPMS_RANK(1, 1, 2)
MSREP_CPMS_RANK(1, 2, 2)
MSREP_CPMS_RANK(2, 2, 2)
MSREP_CPMS_RANK(2, 2, 4)
MSREP_CPMS_RANK(2, 3, 4)
MSREP_CPMS_RANK(3, 3, 4)
MSREP_CPMS_RANK(3, 4, 4)
MSREP_CPMS_RANK(4, 4, 4)
