// y = alpha*A*x + beta*y with a few lanes for each row, for rows of about equal length:
//
//   y[r] = alpha * sum over k of val[k]*x[idx[k]] + beta*y[r]
//
// A warp takes consecutive rows. Their entries are contiguous, so the warp reads them
// as one run, 256 at a time for any length of the rows, and stores the products in
// shared memory. Then `lanes` lanes add each row. Every sector of ptr, idx and val is
// read once, except those that two warps share. There are no atomics and no block
// barriers: the result has the same bits every time.
#include "include/index.cuh"
#include "include/products.cuh"

static constexpr int block = 128;
static constexpr int resident = 7;  // blocks that fit on a multiprocessor: 72 registers a thread, no spills
static constexpr int steps = 8;             // entries that a lane loads at once
static constexpr int segment = 32 * steps;  // entries in shared memory per warp

template <typename V, int lanes>
static __device__ __forceinline__ void gatherVector(const i64* ptr, const i32* idx, const V* val, const V* x, V* y, V* carry,
                                                    i64 rows, i64 first, i64 end, i64 skip, V alpha, V beta) {
	constexpr int warps = block / 32;
	constexpr int height = lanes > 4 ? 128 / lanes : 32;  // rows of a warp
	constexpr int groups = 32 / lanes;                    // rows summed at once
	constexpr int passes = height / groups;
	__shared__ Pair<V> shared[warps][segment / 2];

	int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
	V* product = (V*)shared[warp];
	i64 nnz = end - first;
	bool aligned = inPairs(idx, val);
	// A block takes consecutive chunks, so that it finds its x in the caches. Chunks
	// have at least 4 rows, so there are at most 2^29.
	i64 chunks = (rows + height - 1) / height;
	Share own = share((chunks + warps - 1) / warps, blockIdx.x, gridDim.x);
	i32 chunk = (i32)least(own.first * warps + warp, chunks), stop = (i32)least(own.past * warps, chunks);
	i64 begin = 0, last = 0;  // pointers of the next chunk, loaded ahead
	auto ahead = [&](i64 r) {
		begin = __ldg(ptr + least(r + least(lane, height), rows));
		if (height == 32)
			last = __ldg(ptr + least(r + 32, rows));
	};
	if (chunk < stop)
		ahead((i64)chunk * height);
	for (; chunk < stop; chunk += warps) {
		// Lane l holds the entries [lo, hi) of row l of the chunk, counted from the
		// part's first entry. Lanes without a row hold an empty range.
		i64 r = (i64)chunk * height;
		i64 lo = clamp(begin - first, 0, nnz), hi = shflDown(lo, 1);
		if (height == 32 && lane == 31)
			hi = clamp(last - first, 0, nnz);
		if (chunk + warps < stop)
			ahead((i64)(chunk + warps) * height);
		i64 from = shfl(lo, 0), to = shfl(hi, 31);
		bool pairs = aligned && to < nnz;

		V sum[passes];
#pragma unroll
		for (int p = 0; p < passes; p++)
			sum[p] = V(0);
		for (i64 s = from & ~31ll; s < to; s += segment) {
			int low = (int)most(from - s, 0ll), high = (int)least(to - s, (i64)segment);
			Stage<V, 32, steps> stage(idx + s, val + s, lane, low, high, pairs);
			stage.fetch();
			stage.multiply(x, product);
			__syncwarp();

			i32 start = (i32)clamp(lo - s, 0, segment), end = (i32)clamp(hi - s, 0, segment);
#pragma unroll
			for (int p = 0; p < passes; p++) {
				int row = p * groups + lane / lanes;
				int b = shfl(start, row), e = shfl(end, row);
#pragma unroll 1
				for (int k = b + lane % lanes; k < e; k += lanes)
					sum[p] += product[k];
			}
			__syncwarp();
		}

		// Lane l receives row l of the chunk, so that y is written contiguously.
#pragma unroll
		for (int p = 0; p < passes; p++) {
#pragma unroll
			for (int d = lanes / 2; d > 0; d /= 2)
				sum[p] += shflXor(sum[p], d);
			if (lane % lanes == 0)
				product[p * groups + lane / lanes] = sum[p];
		}
		__syncwarp();
		if (lane < height && r + lane < rows) {
			if (r + lane < skip)
				*carry = alpha * product[lane];
			else
				store(y + (r + lane - skip), alpha, product[lane], beta);
		}
		__syncwarp();
	}
}

#define MSREP_GATHER_VECTOR(suffix, V, lanes)                                                                          \
	extern "C" __global__ void __launch_bounds__(block, resident) msrep_major_vector##lanes##_##suffix(                         \
	    const i64* ptr, const i32* idx, const V* val, const V* x, V* y, V* carry, i64 rows, i64 first, i64 end, i64 skip, \
	    V alpha, V beta) {                                                                                             \
		gatherVector<V, lanes>(ptr, idx, val, x, y, carry, rows, first, end, skip, alpha, beta);                       \
	}
#define MSREP_GATHER_VECTORS(suffix, V) \
	MSREP_GATHER_VECTOR(suffix, V, 1)   \
	MSREP_GATHER_VECTOR(suffix, V, 2)   \
	MSREP_GATHER_VECTOR(suffix, V, 4)   \
	MSREP_GATHER_VECTOR(suffix, V, 8)   \
	MSREP_GATHER_VECTOR(suffix, V, 16)  \
	MSREP_GATHER_VECTOR(suffix, V, 32)
MSREP_GATHER_VECTORS(f64, double)
MSREP_GATHER_VECTORS(f32, float)
