// The fix-up of carries: sums that tiles, or parts of a matrix on several devices,
// have for rows that others own.
//
//	y[row[i] - skip] += val[i]   for i = 0 ... n-1;   carry[0] for row[i] < skip
//
// row must not fall; a row that is not below rows is passed over. A block takes
// 256 carries and adds up those of equal rows. What it has of its last row it
// leaves in outRow and outVal, one for each block, and the same kernel is run on
// those, until there is one block, which adds that too. So no two blocks add to
// one row, and the order of the additions depends on n alone.
#include "include/index.cuh"
#include "include/segment.cuh"

static constexpr int block = 256;

template <typename V>
static __device__ __forceinline__ void addCarries(const i32* row, const V* val, V* y, V* carry, i32* outRow, V* outVal,
                                                  i64 n, i64 rows, i64 skip) {
	__shared__ BlockSegments<V, block> segments;
	i64 tiles = (n + block - 1) / block;
	for (i64 b = blockIdx.x; b < tiles; b += gridDim.x) {
		// Threads past the end join the last row with nothing to add.
		i64 i = b * block + threadIdx.x;
		i32 r = __ldg(row + least(i, n - 1));
		V v = i < n ? __ldg(val + i) : V(0);
		bool tail;
		v = segments.sum(r, v, tail);
		bool last = threadIdx.x == block - 1;
		if (tail && (!last || tiles == 1) && r < rows)
			*target(y, carry, skip, r) += v;
		if (last && tiles > 1) {
			outRow[b] = r;
			outVal[b] = v;
		}
		__syncthreads();
	}
}

#define MSREP_ADD_CARRIES(suffix, V)                                                                              \
	extern "C" __global__ void __launch_bounds__(block) msrep_add_carries_##suffix(                               \
	    const i32* row, const V* val, V* y, V* carry, i32* outRow, V* outVal, i64 n, i64 rows, i64 skip) {            \
		addCarries<V>(row, val, y, carry, outRow, outVal, n, rows, skip);                                         \
	}
MSREP_ADD_CARRIES(f64, double)
MSREP_ADD_CARRIES(f32, float)
