// Products with values and vectors in segments, one thread for each row as in the
// CPMS paper (section 4.3); sums are formed in float64:
//
//	y[r] = alpha * sum over k of val[k]*x[idx[k]] + beta*y[r]
//
// The first K of S segments of val are read; with K = 0 all values are 1. Of x the
// first xread are read, of y the first yread are read and written, 0 standing for plain
// float64. And the conversion of arrays between plain float64 and segments, in place.
#include "include/segments.cuh"

static constexpr int block = 128;
static constexpr int ahead = 4;  // steps of gatherELLR in flight

// keepRow writes the sum of place i, which is row perm[i], or i without perm: a first
// row that an earlier part owns (skip = 1) goes to the carry, without beta.
template <int S>
static __device__ __forceinline__ void keepRow(const i32* perm, Vector<S> y, double* carry, i64 i, i64 skip, double alpha,
                                               double sum, double beta) {
	i64 r = perm ? __ldg(perm + i) : i;
	double v = alpha * sum;
	if (r < skip) {
		*carry = v;
		return;
	}
	if (beta != 0)
		v += beta * y.read(r - skip);
	y.write(r - skip, v);
}

template <int S, int K>
static __device__ __forceinline__ void gatherRows(const i64* ptr, const i32* idx, const i32* val, Vector<S> x, Vector<S> y,
                                                  double* carry, i64 rows, i64 first, i64 end, i64 skip, i64 shift,
                                                  double alpha, double beta) {
	typedef Segments<S, K> Values;
	Values v{(typename Values::T*)val, end - first, shift};
	for (i64 r = threadOf(block); r < rows; r += threads(block)) {
		i64 lo = clamp(__ldg(ptr + r) - first, 0, end - first), hi = clamp(__ldg(ptr + r + 1) - first, 0, end - first);
		double sum = 0;
#pragma unroll 1
		for (i64 k = lo; k < hi; k++)
			sum += v.read(k) * x.read(__ldg(idx + k));
		keepRow<S>(0, y, carry, r, skip, alpha, sum, beta);
	}
}

template <int S, int K>
static __device__ __forceinline__ void gatherELLR(const i32* idx, const i32* val, const i32* length, const i64* start,
                                                  const i32* perm, Vector<S> x, Vector<S> y, double* carry, i64 rows,
                                                  i64 stride, i64 places, i64 skip, i64 shift, double alpha, double beta) {
	typedef Segments<S, K> Values;
	Values v{(typename Values::T*)val, places, shift};
	for (i64 r = threadOf(block); r < rows; r += threads(block)) {
		i64 at = start ? __ldg(start + r / 32) + r % 32 : r;
		double sum = 0;
#pragma unroll 1
		for (i32 left = __ldg(length + r); left > 0; left -= ahead, at += ahead * stride) {
			// Behind the end of the row the last place is read again, so that nothing branches.
			i32 col[ahead];
			double a[ahead], b[ahead];
#pragma unroll
			for (int i = 0; i < ahead; i++) {
				i64 k = at + least(i, left - 1) * stride;
				col[i] = once(idx + k);
				a[i] = v.read(k);
			}
			x.read(col, b);
#pragma unroll
			for (int i = 0; i < ahead; i++)
				if (i < left)
					sum += a[i] * b[i];
		}
		keepRow<S>(perm, y, carry, r, skip, alpha, sum, beta);
	}
}

// join makes plain float64 of values in segments, of banks of 128 bytes, in place: a warp
// reads all of a block before it writes.
template <int S> static __device__ __forceinline__ void join(double* a, i64 n) {
	constexpr int each = S / 2;  // values of a lane
	constexpr i64 per = 32 * each;
	typedef Segments<S, S> Values;
	Values v{(typename Values::T*)a, n, S == 2 ? 5 : 6};
	int lane = threadIdx.x & 31;
	for (i64 b = threadOf(block) / 32; b * per < n; b += threads(block) / 32) {
		double keep[each];
#pragma unroll
		for (int i = 0; i < each; i++) {
			i64 k = b * per + 32 * i + lane;
			if (k < n)
				keep[i] = v.read(k);
		}
		__syncwarp();
#pragma unroll
		for (int i = 0; i < each; i++) {
			i64 k = b * per + 32 * i + lane;
			if (k < n)
				a[k] = keep[i];
		}
		__syncwarp();
	}
}

#define MSREP_CPMS(K, S)                                                                                                \
	extern "C" __global__ void __launch_bounds__(block) msrep_cpms_rows_##K##of##S(                                   \
	    const i64* ptr, const i32* idx, const i32* val, const double* x, double* y, double* carry, i64 rows, i64 first,   \
	    i64 end, i64 skip, i64 shift, i64 xlen, i64 xread, i64 ylen, i64 yread, double alpha, double beta) {             \
		gatherRows<S, K>(ptr, idx, val, Vector<S>{(void*)x, xlen, xread}, Vector<S>{y, ylen, yread}, carry, rows, first,  \
		                 end, skip, shift, alpha, beta);                                                               \
	}                                                                                                                   \
	extern "C" __global__ void __launch_bounds__(block) msrep_cpms_ellr_##K##of##S(                                   \
	    const i32* idx, const i32* val, const i32* length, const i64* start, const i32* perm, const double* x, double* y, \
	    double* carry, i64 rows, i64 stride, i64 places, i64 skip, i64 shift, i64 xlen, i64 xread, i64 ylen, i64 yread,   \
	    double alpha, double beta) {                                                                                   \
		gatherELLR<S, K>(idx, val, length, start, perm, Vector<S>{(void*)x, xlen, xread}, Vector<S>{y, ylen, yread},     \
		                 carry, rows, stride, places, skip, shift, alpha, beta);                                       \
	}
MSREP_CPMS(0, 2)
MSREP_CPMS(1, 2)
MSREP_CPMS(2, 2)
MSREP_CPMS(0, 4)
MSREP_CPMS(1, 4)
MSREP_CPMS(2, 4)
MSREP_CPMS(3, 4)
MSREP_CPMS(4, 4)

extern "C" __global__ void __launch_bounds__(block) msrep_cpms_join_2(double* a, i64 n) { join<2>(a, n); }
extern "C" __global__ void __launch_bounds__(block) msrep_cpms_join_4(double* a, i64 n) { join<4>(a, n); }
