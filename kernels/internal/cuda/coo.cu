// Products of sorted coordinate parts. msrep_scale applies beta before.
//
//   msrep_major_coo   y[major[k] - own] += alpha * val[k] * x[minor[k]]
//   msrep_minor_coo  y[minor[k]]       += alpha * val[k] * x[major[k]]
//
// own is the first row that the part owns. msrep_major_coo adds the products of the
// row before it to carry[0], which msrep_fill sets to 0 before.
#include "include/index.cuh"
#include "include/segment.cuh"

static constexpr int block = 128;
static constexpr int resident = 6;  // blocks that fit on a multiprocessor: 80 registers a thread, no spills
static constexpr int items = 7;             // entries of a lane at a time; odd, so that lanes access different banks
static constexpr int segment = 32 * items;  // entries in shared memory per warp
static constexpr int run = 2 * segment;     // entries of a warp, for each carry

// gatherCOO: a warp reads a segment of entries into shared memory, each lane adds
// `items` consecutive ones, and shuffles add the rows that span several lanes. Rows
// that end in a warp's run are added to y. The sum of its last row, which may continue
// in the next run, goes to carryRow and carryVal for msrep_add_carries. There are no
// atomics: the result has the same bits every time.
template <typename V>
static __device__ __forceinline__ void gatherCOO(const i32* major, const i32* minor, const V* val, const V* x, V* y, V* carry,
                                                 i32* carryRow, V* carryVal, i64 nnz, i64 own, V alpha) {
	constexpr int warps = block / 32;
	__shared__ V sharedProduct[warps][segment];
	__shared__ i32 sharedRow[warps][segment];

	int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
	V* product = sharedProduct[warp];
	i32* row = sharedRow[warp];
	auto add = [&](i32 r, V v) { *(r < own ? carry : y + (r - own)) += alpha * v; };

	i64 runs = (nnz + run - 1) / run;
	for (i64 b = (i64)blockIdx.x * warps + warp; b < runs; b += (i64)gridDim.x * warps) {
		i64 begin = b * run, end = least(begin + run, nnz);
		// The row that has not ended yet, and its sum so far.
		i32 openRow = __ldg(major + begin);
		V open = V(0);
		for (i64 s = begin; s < end; s += segment) {
			int entries = (int)least(end - s, (i64)segment);
			i32 col[items], r[items];
			V a[items];
#pragma unroll
			for (int i = 0; i < items; i++) {
				int k = i * 32 + lane;
				col[i] = -1;
				if (k < entries) {
					col[i] = once(minor + s + k);
					r[i] = once(major + s + k);
					a[i] = once(val + s + k);
				}
			}
#pragma unroll
			for (int i = 0; i < items; i++) {
				if (col[i] >= 0) {
					row[i * 32 + lane] = r[i];
					product[i * 32 + lane] = a[i] * __ldg(x + col[i]);
				}
			}
			__syncwarp();

			// Lanes past the end take the last row with a product of 0.
			int k = lane * items, stop = least(k + items, entries);
			i32 first = row[least(k, entries - 1)], key = first;
			V sum = V(0), head = V(0);
			bool ended = false;  // first row that ends in this lane; head is its sum
			for (; k < stop; k++) {
				if (row[k] != key) {
					if (ended)
						add(key, sum);
					else
						head = sum;
					ended = true;
					key = row[k];
					sum = V(0);
				}
				sum += product[k];
			}

			// head gets the sum of the lanes before for the row that they leave open.
			if (lane == 0 && key == openRow)
				sum += open;
			sum = warpSegments(key, sum);
			i32 lastRow = shflUp(key, 1);
			V last = shflUp(sum, 1);
			if (lane == 0) {
				lastRow = openRow;
				last = open;
			}
			if (lastRow != first)
				add(lastRow, last);
			if (ended)
				add(first, lastRow == first ? head + last : head);
			openRow = shfl(key, 31);
			open = shfl(sum, 31);
			__syncwarp();
		}
		if (lane == 0) {
			carryRow[b] = (i32)most(openRow - own + 1, 0ll);
			carryVal[b] = alpha * open;
		}
	}
}

template <typename V>
static __device__ __forceinline__ void scatterCOO(const i32* major, const i32* minor, const V* val, const V* x, V* y, i64 nnz,
                                                  V alpha) {
	for (i64 k = threadOf(block); k < nnz; k += threads(block))
		atomicAdd(y + __ldg(minor + k), __ldg(val + k) * (alpha * __ldg(x + __ldg(major + k))));
}

#define MSREP_COO(suffix, V)                                                                                           \
	extern "C" __global__ void __launch_bounds__(block, resident) msrep_major_coo_##suffix(                                     \
	    const i32* major, const i32* minor, const V* val, const V* x, V* y, V* carry, i32* carryRow, V* carryVal, i64 nnz, \
	    i64 own, V alpha) {                                                                                            \
		gatherCOO<V>(major, minor, val, x, y, carry, carryRow, carryVal, nnz, own, alpha);                             \
	}                                                                                                                  \
	extern "C" __global__ void __launch_bounds__(block, resident) msrep_minor_coo_##suffix(                                    \
	    const i32* major, const i32* minor, const V* val, const V* x, V* y, i64 nnz, V alpha) {                            \
		scatterCOO<V>(major, minor, val, x, y, nnz, alpha);                                                            \
	}
MSREP_COO(f64, double)
MSREP_COO(f32, float)
