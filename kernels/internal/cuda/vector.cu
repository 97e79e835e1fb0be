// Vector operations of iterative solvers.
//
//	msrep_axpby  y = alpha*x + beta*y      beta = 0 does not read y
//	msrep_scale  y = beta*y                beta = 0 does not read y
//	msrep_fill   y = alpha
//	msrep_total  out[0] = sum of partial[0 ... n-1], with one block
#include "include/index.cuh"
#include "include/sum.cuh"

static constexpr int block = 256;

template <typename V> static __device__ __forceinline__ void axpby(const V* x, V* y, i64 n, V alpha, V beta) {
	for (i64 i = threadOf(block); i < n; i += threads(block))
		store(y + i, alpha, __ldg(x + i), beta);
}

template <typename V> static __device__ __forceinline__ void scale(V* y, i64 n, V beta) {
	for (i64 i = threadOf(block); i < n; i += threads(block))
		y[i] = beta != V(0) ? beta * y[i] : V(0);
}

template <typename V> static __device__ __forceinline__ void fill(V* y, i64 n, V alpha) {
	for (i64 i = threadOf(block); i < n; i += threads(block))
		y[i] = alpha;
}

extern "C" __global__ void __launch_bounds__(block) msrep_total(const double* partial, double* out, i64 n) {
	double sum = 0;
	for (i64 i = threadIdx.x; i < n; i += block)
		sum += __ldg(partial + i);
	sum = blockSum<block>(sum);
	if (threadIdx.x == 0)
		*out = sum;
}

#define MSREP_VECTOR(suffix, V)                                                                                       \
	extern "C" __global__ void __launch_bounds__(block) msrep_axpby_##suffix(const V* x, V* y, i64 n, V alpha, V beta) { \
		axpby<V>(x, y, n, alpha, beta);                                                                               \
	}                                                                                                                 \
	extern "C" __global__ void __launch_bounds__(block) msrep_scale_##suffix(V* y, i64 n, V beta) { scale<V>(y, n, beta); } \
	extern "C" __global__ void __launch_bounds__(block) msrep_fill_##suffix(V* y, i64 n, V alpha) { fill<V>(y, n, alpha); }
MSREP_VECTOR(f64, double)
MSREP_VECTOR(f32, float)
