// Products with values and vectors in segments, one thread for each row as in the CPMS
// paper (section 4.3); a warp or a block shares a long row. Sums are in float64, in an
// order that depends only on the lengths of the rows:
//
//   y[r] = alpha * sum over k of val[k]*x[idx[k]] + beta*y[r]
//
// Of the S segments of val, the first K are read; K = 0 means that all values are 1.
// The first xread segments of x are read, the first yread of y are read and written; 0
// means plain float64. Further kernels convert arrays between plain float64 and
// segments, in place.
#include "include/segments.cuh"

static constexpr int block = 128;
static constexpr int warps = block / 32;
static constexpr int ahead = 4;      // entries that a thread loads at once
static constexpr i64 alone = 128;    // longest row of a single thread
static constexpr i64 byWarp = 2048;  // longest row of a single warp

// keepRow writes the sum of place i, which holds row perm[i], or row i without perm.
// The sum of a first row that an earlier part owns (skip = 1) goes to the carry,
// without beta.
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

// Entries holds a matrix and x.
template <int S, int K> struct Entries {
	const i32* idx;
	Segments<S, K> val;
	Vector<S> x;

	// multiply computes the products of entries at(0), at(1), ..., whose columns are
	// known.
	template <typename At>
	__device__ __forceinline__ void multiply(At at, const i32 (&col)[ahead], double (&product)[ahead]) const {
		double a[ahead];
#pragma unroll
		for (int i = 0; i < ahead; i++)
			a[i] = val.read(at(i));
		x.read(col, product);
#pragma unroll
		for (int i = 0; i < ahead; i++)
			product[i] *= a[i];
	}

	// sum adds the entries k ... hi-1.
	__device__ __forceinline__ double sum(i64 k, i64 hi) const {
		double sum = 0, product[ahead];
		auto at = [&](int i) { return k + i; };
#pragma unroll 1
		for (; k + ahead <= hi; k += ahead) {
			i32 col[ahead];
#pragma unroll
			for (int i = 0; i < ahead; i++)
				col[i] = __ldg(idx + at(i));
			multiply(at, col, product);
#pragma unroll
			for (int i = 0; i < ahead; i++)
				sum += product[i];
		}
#pragma unroll 1
		for (; k < hi; k++)
			sum += val.read(k) * x.read(__ldg(idx + k));
		return sum;
	}

	// strided adds every step-th of the entries lo ... hi-1, from lo+t on. There must
	// be at least one. The columns of the next round are loaded ahead. Reads past the
	// end repeat the last entry, which avoids a branch.
	__device__ __forceinline__ double strided(i64 lo, i64 hi, int t, int step) const {
		i64 k = lo + t;
		double sum = 0, product[ahead];
		i32 col[ahead], next[ahead];
		auto at = [&](int i) { return least(k + i * step, hi - 1); };
#pragma unroll
		for (int i = 0; i < ahead; i++)
			next[i] = once(idx + at(i));
#pragma unroll 1
		for (i64 from = lo; from < hi; from += ahead * step) {
#pragma unroll
			for (int i = 0; i < ahead; i++)
				col[i] = next[i];
#pragma unroll
			for (int i = 0; i < ahead; i++)
				next[i] = once(idx + at(i + ahead));
			multiply(at, col, product);
#pragma unroll
			for (int i = 0; i < ahead; i++)
				if (k + i * step < hi)
					sum += product[i];
			k += ahead * step;
		}
		return sum;
	}
};

// warpSum returns the sum of v over a warp, in all lanes.
static __device__ __forceinline__ double warpSum(double v) {
#pragma unroll
	for (int d = 16; d > 0; d /= 2)
		v += shflXor(v, d);
	return v;
}

// gatherRows adds a short row with one thread. The warp of that thread then shares its
// longer rows, and the block shares the longest.
template <int S, int K>
static __device__ __forceinline__ void gatherRows(const i64* ptr, const i32* idx, const i32* val, Vector<S> x, Vector<S> y,
                                                  double* carry, i64 rows, i64 first, i64 end, i64 skip, i64 shift,
                                                  double alpha, double beta) {
	typedef Segments<S, K> Values;
	Entries<S, K> a{idx, Values{(typename Values::T*)val, end - first, shift}, x};
	__shared__ unsigned longest[warps];  // rows of each warp that the block shares
	__shared__ double parts[warps];
	int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
	auto border = [&](i64 r) { return clamp(__ldg(ptr + r) - first, 0, end - first); };
	for (i64 top = (i64)blockIdx.x * block; top < rows; top += threads(block)) {
		i64 r = top + threadIdx.x, lo = border(least(r, rows)), hi = border(least(r + 1, rows));
		bool any = __syncthreads_or(hi - lo > byWarp);
		unsigned ours = ballot(hi - lo > byWarp), mine = ballot(hi - lo > alone) & ~ours;
		double sum = 0;
		if (hi - lo <= alone)
			sum = a.sum(lo, hi);
		__syncwarp();
#pragma unroll 1
		for (; mine != 0; mine &= mine - 1) {
			int at = lowest(mine);
			i64 r = top + 32 * warp + at;
			double all = warpSum(a.strided(border(r), border(r + 1), lane, 32));
			if (lane == at)
				sum = all;
		}
		if (any) {
			if (lane == 0)
				longest[warp] = ours;
			__syncthreads();
#pragma unroll 1
			for (int w = 0; w < warps; w++)
#pragma unroll 1
				for (ours = longest[w]; ours != 0; ours &= ours - 1) {
					int at = 32 * w + lowest(ours);
					i64 r = top + at;
					double part = warpSum(a.strided(border(r), border(r + 1), threadIdx.x, block));
					if (lane == 0)
						parts[warp] = part;
					__syncthreads();
					if (threadIdx.x == at)
						sum = (parts[0] + parts[1]) + (parts[2] + parts[3]);
					__syncthreads();
				}
		}
		if (r < rows)
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
			// Reads past the end of the row repeat the last place, which avoids a
			// branch.
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

// join converts values in segments to plain float64, in banks of 128 bytes, in place. A
// warp reads a whole chunk of banks before it writes.
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
