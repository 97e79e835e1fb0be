// Sums in a fixed order (kernels.GatherFixed), for parts of whole rows:
//
//   y[r] = alpha * sum over k of val[k]*x[idx[k]] + beta*y[r]
//
// A lane adds a row of at most one chunk, in order. The chunks of a longer row are
// distributed cyclically to the lanes of the warp. The warp reads the entries of its
// rows as one run, and stores values and elements of x in shared memory for the sums.
// The bits equal those of every other device.
#include "include/index.cuh"
#include "include/scalar.cuh"

static constexpr int block = 128;
static constexpr int chunk = 512;           // kernels.FixedChunk
static constexpr int stripes = 32;          // kernels.FixedStripes: one for each lane
static constexpr int steps = 8;             // entries that a lane loads at once
static constexpr int segment = 32 * steps;  // entries in shared memory per warp
static_assert(chunk % steps == 0, "chunks end with a segment");

// Entries holds a matrix, x, and memory that a warp shares.
template <typename V> struct Entries {
	const i32* idx;
	const V *val, *x;
	Pair<V>* shared;

	// stage stores the value and the element of x of entries at(0) ... at(steps-1) that
	// lie below end, in slots slot(0) ... All loads of columns and values are issued
	// before the first load of x, and all loads of x before the first store.
	template <typename At, typename Slot> __device__ __forceinline__ void stage(At at, i64 end, Slot slot) const {
		i32 col[steps];
		Pair<V> v[steps];
#pragma unroll
		for (int i = 0; i < steps; i++) {
			col[i] = -1;
			v[i].a = V(0);
			if (at(i) < end) {
				col[i] = once(idx + at(i));
				v[i].a = once(val + at(i));
			}
		}
		__syncwarp();  // keeps compilers from reordering
#pragma unroll
		for (int i = 0; i < steps; i++) {
			v[i].b = V(0);
			if (col[i] >= 0)
				v[i].b = __ldg(x + col[i]);
		}
#pragma unroll
		for (int i = 0; i < steps; i++)
			shared[slot(i)] = v[i];
	}

	__device__ __forceinline__ V add(int slot, V sum) const { return fma(shared[slot].a, shared[slot].b, sum); }

	// addRows adds to the sum of each lane those of its entries [lo, hi) that lie in
	// [from, to). All lanes of the warp must call it.
	__device__ __forceinline__ V addRows(i64 from, i64 to, i64 lo, i64 hi, V sum) const {
		int lane = threadIdx.x & 31;
#pragma unroll 1
		for (i64 s = from; s < to; s += segment) {
			stage([&](int i) { return s + i * 32 + lane; }, to, [&](int i) { return i * 32 + lane; });
			__syncwarp();
			int stop = (int)clamp(least(hi, to) - s, 0, segment);
#pragma unroll 8
			for (int k = (int)clamp(lo - s, 0, segment); k < stop; k++)
				sum = add(k, sum);
			__syncwarp();
		}
		return sum;
	}

	// longRow returns the sum of the entries [from, to), which span several chunks. All
	// lanes of the warp must call it; all receive the sum.
	__device__ __forceinline__ V longRow(i64 from, i64 to) const {
		int lane = threadIdx.x & 31;
		V stripe = V(0);
#pragma unroll 1
		for (; from < to; from += stripes * chunk) {
			V sum = V(0);
			i64 left = to - from - lane * chunk;  // entries from this lane's chunk to the end of the row
#pragma unroll 1
			for (int j = 0; j < chunk && from + j < to; j += steps) {
				// Eight lanes read the next entries of a chunk, so a warp reads those
				// of four chunks at a time. An entry's slot in shared memory shifts
				// from chunk to chunk, so that the lanes read from different banks.
				int e = lane % steps, first = lane / steps;
				auto chunkOf = [&](int i) { return first + i * (32 / steps); };
				stage([&](int i) { return from + chunkOf(i) * chunk + j + e; }, to,
				      [&](int i) { return chunkOf(i) * steps + (e + chunkOf(i)) % steps; });
				__syncwarp();
#pragma unroll
				for (int e = 0; e < steps; e++)
					if (j + e < left)
						sum = add(lane * steps + (e + lane) % steps, sum);
				__syncwarp();
			}
			stripe += sum;
		}
#pragma unroll
		for (int d = stripes / 2; d > 0; d /= 2)
			stripe += shflXor(stripe, d);
		return stripe;
	}
};

template <typename V>
static __device__ __forceinline__ void gatherFixed(const i64* ptr, const i32* idx, const V* val, const V* x, V* y, i64 rows,
                                                   i64 first, V alpha, V beta) {
	__shared__ Pair<V> shared[block / 32][segment];
	Entries<V> a = {idx, val, x, shared[threadIdx.x >> 5]};
	int lane = threadIdx.x & 31;
	for (i64 top = threadOf(block) - lane; top < rows; top += threads(block)) {
		i64 r = top + lane;
		i64 lo = __ldg(ptr + least(r, rows)) - first, hi = __ldg(ptr + least(r + 1, rows)) - first;
		i64 from = shfl(lo, 0), to = shfl(hi, 31);
		bool isLong = hi - lo > chunk;
		i32 anyLong = isLong;
#pragma unroll
		for (int d = 16; d > 0; d /= 2)
			anyLong |= shflXor(anyLong, d);
		V sum = V(0);
#pragma unroll 1
		for (int g = 0; anyLong && g < 32; g++) {
			i64 start = shfl(lo, g), stop = shfl(hi, g);
			if (stop - start <= chunk)
				continue;
			sum = a.addRows(from, start, lo, isLong ? lo : hi, sum);
			V s = a.longRow(start, stop);
			if (lane == g)
				sum = s;
			from = stop;
		}
		sum = a.addRows(from, to, lo, isLong ? lo : hi, sum);
		if (r < rows) {
			V v = alpha * sum;
			if (beta != V(0))
				v = fma(beta, y[r], v);
			y[r] = quiet(v);
		}
	}
}

#define MSREP_GATHER_FIXED(suffix, V)                                                                                \
	extern "C" __global__ void __launch_bounds__(block) msrep_major_fixed_##suffix(                                 \
	    const i64* ptr, const i32* idx, const V* val, const V* x, V* y, i64 rows, i64 first, V alpha, V beta) {      \
		gatherFixed<V>(ptr, idx, val, x, y, rows, first, alpha, beta);                                               \
	}
MSREP_GATHER_FIXED(f64, double)
MSREP_GATHER_FIXED(f32, float)
