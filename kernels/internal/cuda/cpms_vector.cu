// Vectors in segments, for PageRank on a device (section 4.3 of the CPMS paper). All
// arithmetic is in float64. The kernels process elements first ... first + count - 1 of
// a vector p of n values. They read and write a given number of the S segments; 0 means
// plain float64. Each block leaves one partial sum, in an order that depends on the
// sizes and the grid alone; msrep_total adds them.
//
//   norm1   partial[b] = sum of |p[i]|*degree[i-first]
//   divide  p[i] = p[i]/by
//   pick    partial[b] = sum of p[node[j]], j < count: the dangling nodes
//   rank    next[i] = (sums[i-first] + add)/degree[i-first],
//           partial[b] = sum of |next[i] - cur[i]|*degree[i-first]
//
// Without degree, all degrees are 1. rank reads the first segments of cur and writes
// those of next, which has more of them if the precision changes. Its sum is that of
// the values as written.
#include "include/sum.cuh"
#include "include/segments.cuh"

static constexpr int block = 256;

static __device__ __forceinline__ double absolute(double v) { return v < 0 ? -v : v; }

static __device__ __forceinline__ void leave(double sum, double* partial) {
	sum = blockSum<block>(sum);
	if (threadIdx.x == 0)
		partial[blockIdx.x] = sum;
}

static __device__ __forceinline__ double links(const i32* degree, i64 i) { return degree ? (double)__ldg(degree + i) : 1; }

template <int S>
static __device__ __forceinline__ void norm1(Vector<S> p, const i32* degree, double* partial, i64 first, i64 count) {
	double sum = 0;
	for (i64 i = threadOf(block); i < count; i += threads(block))
		sum += absolute(p.read(first + i)) * links(degree, i);
	leave(sum, partial);
}

template <int S> static __device__ __forceinline__ void divide(Vector<S> p, i64 first, i64 count, double by) {
	for (i64 i = threadOf(block); i < count; i += threads(block))
		p.write(first + i, p.read(first + i) / by);
}

template <int S>
static __device__ __forceinline__ void pick(Vector<S> p, const i32* node, double* partial, i64 count) {
	double sum = 0;
	for (i64 i = threadOf(block); i < count; i += threads(block))
		sum += p.read(__ldg(node + i));
	leave(sum, partial);
}

template <int S>
static __device__ __forceinline__ void rank(const double* sums, Vector<S> cur, Vector<S> next, const i32* degree,
                                            double* partial, i64 first, i64 count, double add) {
	double sum = 0;
	for (i64 i = threadOf(block); i < count; i += threads(block)) {
		double d = links(degree, i), old = cur.read(first + i);
		sum += absolute(next.write(first + i, (__ldg(sums + i) + add) / d) - old) * d;
	}
	leave(sum, partial);
}

#define MSREP_CPMS_VECTOR(S)                                                                                            \
	extern "C" __global__ void __launch_bounds__(block) msrep_cpms_norm1_##S(                                         \
	    const double* p, const i32* degree, double* partial, i64 n, i64 read, i64 first, i64 count) {                      \
		norm1<S>(Vector<S>{(void*)p, n, read}, degree, partial, first, count);                                           \
	}                                                                                                                   \
	extern "C" __global__ void __launch_bounds__(block) msrep_cpms_divide_##S(double* p, i64 n, i64 read, i64 first,   \
	                                                                          i64 count, double by) {                    \
		divide<S>(Vector<S>{p, n, read}, first, count, by);                                                              \
	}                                                                                                                   \
	extern "C" __global__ void __launch_bounds__(block) msrep_cpms_pick_##S(                                          \
	    const double* p, const i32* node, double* partial, i64 n, i64 read, i64 count) {                                   \
		pick<S>(Vector<S>{(void*)p, n, read}, node, partial, count);                                                     \
	}                                                                                                                   \
	extern "C" __global__ void __launch_bounds__(block) msrep_cpms_rank_##S(                                          \
	    const double* sums, const double* cur, double* next, const i32* degree, double* partial, i64 n, i64 read,           \
	    i64 write, i64 first, i64 count, double add) {                                                                    \
		rank<S>(sums, Vector<S>{(void*)cur, n, read}, Vector<S>{next, n, write}, degree, partial, first, count, add);    \
	}
MSREP_CPMS_VECTOR(2)
MSREP_CPMS_VECTOR(4)
