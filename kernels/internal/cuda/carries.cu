// Add carries to their rows. Carries are partial sums of tiles, or of parts on several
// devices, for rows that other tiles or parts own.
//
//   y[row[i] - skip] += val[i]   for i = 0 ... n-1;   carry[0] for row[i] < skip
//
// row must not decrease. Rows that are not below rows are ignored. A block takes 512
// carries and adds those of equal rows. The block in which the carries of a row end
// adds the row to y; it also reads the row's carries before its own. So no two blocks
// add to one row, and the order of the additions depends on n alone.
#include "include/index.cuh"
#include "include/segment.cuh"

static constexpr int block = 512;

// Before computes the sum of the carries of row r that lie before index `end`.
template <typename V> struct Before {
	V sums[block / 32];
	bool more;

	// sum contains barriers: every thread of the block must call it, with the same r
	// and end.
	__device__ __forceinline__ V sum(const i32* row, const V* val, i32 r, i64 end) {
		V v = V(0);
		for (;;) {
			end -= block;
			i64 i = end + threadIdx.x;
			bool same = i >= 0 && __ldg(row + i) == r;
			if (same)
				v += __ldg(val + i);
			if (threadIdx.x == 0)
				more = same;  // rows do not decrease, so all are the same
			__syncthreads();
			bool on = more;
			__syncthreads();
			if (!on)
				break;
		}
#pragma unroll
		for (int d = 16; d > 0; d /= 2)
			v += shflXor(v, d);
		if ((threadIdx.x & 31) == 0)
			sums[threadIdx.x >> 5] = v;
		__syncthreads();
		v = V(0);
		for (int w = 0; w < block / 32; w++)
			v += sums[w];
		return v;
	}
};

template <typename V>
static __device__ __forceinline__ void addCarries(const i32* row, const V* val, V* y, V* carry, i64 n, i64 rows, i64 skip) {
	__shared__ BlockSegments<V, block> segments;
	__shared__ Before<V> before;
	i64 tiles = (n + block - 1) / block;
	for (i64 b = blockIdx.x; b < tiles; b += gridDim.x) {
		// Threads past the end take the last row with a carry of 0.
		i64 from = b * block, past = least(from + block, n), i = from + threadIdx.x;
		i32 r = __ldg(row + least(i, n - 1)), first = __ldg(row + from), then = __ldg(row + least(past, n - 1));
		V v = i < n ? __ldg(val + i) : V(0);
		bool last = past == n;
		if (from > 0 && __ldg(row + from - 1) == first && (last || then != first)) {
			V more = before.sum(row, val, first, from);
			if (threadIdx.x == 0)
				v += more;
		}
		bool tail;
		v = segments.sum(r, v, tail);
		if (tail && (last || r != then) && r < rows)
			*target(y, carry, skip, r) += v;
		__syncthreads();
	}
}

#define MSREP_ADD_CARRIES(suffix, V)                                                                        \
	extern "C" __global__ void __launch_bounds__(block) msrep_add_carries_##suffix(                         \
	    const i32* row, const V* val, V* y, V* carry, i64 n, i64 rows, i64 skip) {                          \
		addCarries<V>(row, val, y, carry, n, rows, skip);                                                   \
	}
MSREP_ADD_CARRIES(f64, double)
MSREP_ADD_CARRIES(f32, float)
