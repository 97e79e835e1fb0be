// The sum of partial vectors:
//
//   y = beta*y + sum of p[i], i = 0 ... count-1, count at most 8
//
// as the tree ((p0+p1)+(p2+p3)) + ((p4+p5)+(p6+p7)), without missing vectors. More than
// 8 vectors are added in groups of 8, and then the sums of the groups, which is the
// same tree. beta = 0 does not read y. y must not overlap a vector, except that y = p0
// is allowed with beta = 0.
#include "include/index.cuh"

static constexpr int block = 256;

template <typename V> static __device__ __forceinline__ V load(const V* p, i64 i, i64 count, i64 which) {
	return which < count ? p[i] : V(0);
}

// join returns a + b, or a if b is missing.
template <typename V> static __device__ __forceinline__ V join(V a, V b, bool there) { return there ? a + b : a; }

template <typename V>
static __device__ __forceinline__ void sumPartials(V* y, const V* p0, const V* p1, const V* p2, const V* p3, const V* p4,
                                                   const V* p5, const V* p6, const V* p7, i64 count, i64 n, V beta) {
	for (i64 i = threadOf(block); i < n; i += threads(block)) {
		V a0 = load(p0, i, count, 0), a1 = load(p1, i, count, 1), a2 = load(p2, i, count, 2), a3 = load(p3, i, count, 3);
		V a4 = load(p4, i, count, 4), a5 = load(p5, i, count, 5), a6 = load(p6, i, count, 6), a7 = load(p7, i, count, 7);
		V low = join(join(a0, a1, count > 1), join(a2, a3, count > 3), count > 2);
		V high = join(join(a4, a5, count > 5), join(a6, a7, count > 7), count > 6);
		V sum = join(low, high, count > 4);
		if (beta != V(0))
			sum += beta * y[i];
		y[i] = sum;
	}
}

#define MSREP_SUM_PARTIALS(suffix, V)                                                                                   \
	extern "C" __global__ void __launch_bounds__(block) msrep_sum_partials_##suffix(                                    \
	    V* y, const V* p0, const V* p1, const V* p2, const V* p3, const V* p4, const V* p5, const V* p6, const V* p7,       \
	    i64 count, i64 n, V beta) {                                                                                         \
		sumPartials<V>(y, p0, p1, p2, p3, p4, p5, p6, p7, count, n, beta);                                              \
	}
MSREP_SUM_PARTIALS(f64, double)
MSREP_SUM_PARTIALS(f32, float)
