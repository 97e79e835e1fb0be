// The fix-up of carries: sums that tiles, or parts of a matrix on several devices,
// have for rows that others own.
//
//	y[row[i] - skip] += val[i]   for i = 0 ... n-1;   carry[0] for row[i] < skip
//
// row must not fall; a row that is not below rows is passed over. A block takes
// 512 carries and adds up those of equal rows. What it has of its last row it
// leaves in outRow and outVal, one for each block, and the block that comes to
// its end last adds these, 512 at a time: *count, which is 0 before, tells which
// one that is. So no two blocks add to one row at once, and the order of the
// additions depends on n alone.
#include "include/index.cuh"
#include "include/segment.cuh"

static constexpr int block = 512;

// lastOf counts the blocks of the grid that come here, and says to all threads of
// the last one that it is. What the others wrote before their barrier before is then there
// to be read.
static __device__ __forceinline__ bool lastOf(i32* count) {
	__shared__ bool last;
	if (threadIdx.x == 0) {
		__threadfence();
		last = atomicAdd(count, 1) == gridDim.x - 1;
		__threadfence();
	}
	__syncthreads();
	return last;
}

template <typename V>
static __device__ __forceinline__ void addCarries(const i32* row, const V* val, V* y, V* carry, i32* outRow, V* outVal,
                                                  i32* count, i64 n, i64 rows, i64 skip) {
	__shared__ BlockSegments<V, block> segments;
	__shared__ V before;  // of the row that came last, where more of it follows
	i64 tiles = (n + block - 1) / block;
	bool end = threadIdx.x == block - 1;
	for (i64 b = blockIdx.x; b < tiles; b += gridDim.x) {
		// Threads past the end join the last row with nothing to add.
		i64 i = b * block + threadIdx.x;
		i32 r = __ldg(row + least(i, n - 1));
		V v = i < n ? __ldg(val + i) : V(0);
		bool tail;
		v = segments.sum(r, v, tail);
		if (tail && (!end || tiles == 1) && r < rows)
			*target(y, carry, skip, r) += v;
		if (end && tiles > 1) {
			outRow[b] = r;
			outVal[b] = v;
		}
		__syncthreads();
	}
	if (tiles == 1 || !lastOf(count))
		return;
	if (end)
		before = V(0);
	for (i64 from = 0; from < tiles; from += block) {
		__syncthreads();
		i64 i = from + threadIdx.x, behind = least(from + block, tiles);
		i32 r = outRow[least(i, tiles - 1)];
		V v = i < tiles ? outVal[i] : V(0);
		if (threadIdx.x == 0)
			v += before;
		bool tail;
		v = segments.sum(r, v, tail);
		// The last row of these may go on among the next ones.
		bool more = end && behind < tiles && outRow[behind] == r;
		if (end)
			before = more ? v : V(0);
		if (tail && !more && r < rows)
			*target(y, carry, skip, r) += v;
	}
}

#define MSREP_ADD_CARRIES(suffix, V)                                                                              \
	extern "C" __global__ void __launch_bounds__(block) msrep_add_carries_##suffix(                               \
	    const i32* row, const V* val, V* y, V* carry, i32* outRow, V* outVal, i32* count, i64 n, i64 rows, i64 skip) { \
		addCarries<V>(row, val, y, carry, outRow, outVal, count, n, rows, skip);                                  \
	}
MSREP_ADD_CARRIES(f64, double)
MSREP_ADD_CARRIES(f32, float)
