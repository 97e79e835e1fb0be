// y = alpha*A*x + beta*y by merge path, for rows of very unequal length:
//
//   y[r] = alpha * sum over k of val[k]*x[idx[k]] + beta*y[r]
//
// The row ends and the entries are merged into one list, and every tile takes the same
// number of items. A row of a million entries and a million empty rows thus cost each
// tile the same.
//
//   - msrep_merge_path finds where each tile begins: once per matrix.
//   - msrep_major_merge_* writes the rows that end in a tile. The tile's part of
//     the next row goes to carryRow and carryVal.
//   - msrep_add_carries_* (carries.cu) adds those to their rows.
//
// There are no atomics: the result has the same bits every time.
#include "include/index.cuh"
#include "include/products.cuh"
#include "include/segment.cuh"

static constexpr int block = 128;
static constexpr int resident = 6;  // blocks that fit on a multiprocessor: 80 registers a thread, no spills
static constexpr int items = 11;  // odd, so that threads access different banks
static constexpr int tile = block * items;

// msrep_merge_path writes for each tile i, and for i = tiles, the number of rows
// that end before it: start[i] is the least r with end(r) + r >= i*tile, where
// end(r) is the number of entries up to the end of row r.
extern "C" __global__ void __launch_bounds__(block) msrep_merge_path(const i64* ptr, i32* start, i64 rows, i64 first, i64 end) {
	i64 nnz = end - first;
	i64 tiles = (rows + nnz + tile - 1) / tile;
	for (i64 i = threadOf(block); i <= tiles; i += threads(block)) {
		i64 d = least(i * tile, rows + nnz);
		i64 lo = most(d - nnz, 0ll), hi = least(d, rows);
		while (lo < hi) {
			i64 mid = lo + (hi - lo) / 2;
			if (clamp(__ldg(ptr + mid + 1) - first, 0, nnz) + mid < d)
				lo = mid + 1;
			else
				hi = mid;
		}
		start[i] = (i32)lo;
	}
}

template <typename V>
static __device__ __forceinline__ void gatherMerge(const i64* ptr, const i32* idx, const V* val, const V* x, V* y, V* carry,
                                                   const i32* start, i32* carryRow, V* carryVal, i64 rows, i64 first,
                                                   i64 end, i64 skip, V alpha, V beta) {
	// Compute the products of the entries, then the sums of the rows.
	__shared__ Pair<V> shared[block * (items + 1) / 2];
	__shared__ i32 rowEnd[tile + 1];  // counted from the first entry of the tile
	__shared__ BlockSegments<V, block> segments;

	int t = threadIdx.x;
	i64 nnz = end - first;
	bool aligned = inPairs(idx, val);
	i64 tiles = (rows + nnz + tile - 1) / tile;
	for (i64 b = blockIdx.x; b < tiles; b += gridDim.x) {
		i64 r0 = __ldg(start + b), r1 = __ldg(start + b + 1);
		i64 k0 = b * tile - r0, k1 = least((b + 1) * tile, rows + nnz) - r1;
		int height = (int)(r1 - r0), entries = (int)(k1 - k0), length = height + entries;
		int low = (int)(k0 & 31);  // aligns the reads of a warp to sectors
		V *products = (V*)shared + low, *sums = products + entries;

		Stage<V, block, items + 1> stage(idx + k0 - low, val + k0 - low, t, low, low + entries, aligned && k1 < nnz);
		stage.fetch();
		for (int i = t; i < height; i += block)
			rowEnd[i] = (i32)(clamp(__ldg(ptr + r0 + i + 1) - first, 0, nnz) - k0);
		if (t == 0)
			rowEnd[height] = entries;
		stage.multiply(x, (V*)shared);
		__syncthreads();

		// Each thread processes its items of the list. An item is an entry, or the end
		// of row `row`, which stores its sum.
		int d = least(t * items, length), stop = least(d + items, length);
		int row = most(d - entries, 0), hi = least(d, height);
		while (row < hi) {
			int mid = (row + hi) / 2;
			if (rowEnd[mid] + mid < d)
				row = mid + 1;
			else
				hi = mid;
		}
		int k = d - row;
		V sum = V(0);
		for (; d < stop; d++) {
			if (k < rowEnd[row]) {
				sum += products[k++];
			} else {
				sums[row++] = sum;
				sum = V(0);
			}
		}

		// The remaining sum belongs to a row that ends in a later thread or tile.
		bool tail;
		sum = segments.sum(row, sum, tail);
		if (tail && row < height)
			sums[row] += sum;
		if (t == block - 1) {
			carryRow[b] = (i32)r1;
			carryVal[b] = alpha * sum;
		}
		__syncthreads();

		for (int i = t; i < height; i += block) {
			if (r0 + i < skip)
				*carry = alpha * sums[i];
			else
				store(y + (r0 + i - skip), alpha, sums[i], beta);
		}
		__syncthreads();
	}
}

#define MSREP_GATHER_MERGE(suffix, V)                                                                                  \
	extern "C" __global__ void __launch_bounds__(block, resident) msrep_major_merge_##suffix(                                   \
	    const i64* ptr, const i32* idx, const V* val, const V* x, V* y, V* carry, const i32* start, i32* carryRow,         \
	    V* carryVal, i64 rows, i64 first, i64 end, i64 skip, V alpha, V beta) {                                            \
		gatherMerge<V>(ptr, idx, val, x, y, carry, start, carryRow, carryVal, rows, first, end, skip, alpha, beta);    \
	}
MSREP_GATHER_MERGE(f64, double)
MSREP_GATHER_MERGE(f32, float)
