// Reads of the memory of other GPUs, over the addresses at which that memory is mapped.
//
//   msrep_pull          y_s[k] = x_s[idx_s[k]], or x_s[k] without idx_s, for k < n_s and each source s
//   msrep_pull_carries  y[row[k]] += *c_k for k < count, with the bits of msrep_add_carries
//
// A block of msrep_pull takes 1024 elements of one source at a time: a tile. The tiles of all sources are numbered in
// rounds: tile 0 of each source, then tile 1 of each source that has more, and so on. The blocks that run at one time
// therefore read all sources, and every link is busy until its source ends. A thread has loaded all of its elements of a
// tile before it stores the first: the latency of a link counts once for a tile.
#include "include/index.cuh"
#include "include/segment.cuh"

static constexpr int block = 256, each = 4, tile = block * each, width = 8;

// pick returns v[i] of an array in registers.
template <typename T> static __device__ __forceinline__ T pick(const T (&v)[width], int i) {
	T p = v[0];
#pragma unroll
	for (int s = 1; s < width; s++)
		p = s == i ? v[s] : p;
	return p;
}

// Place is a source and one of its tiles.
struct Place {
	int source, tile;
};

// placeOf returns the place of tile t in the order of all tiles; source s has tiles[s]. t is less than their sum.
static __device__ __forceinline__ Place placeOf(const int (&tiles)[width], int t) {
	int round = 0;  // t is now the number of a tile after those of all rounds before this one
	for (;;) {
		int more = 0, next = 0x7fffffff;  // sources that have this round, and the first round that one of them lacks
#pragma unroll
		for (int s = 0; s < width; s++)
			if (tiles[s] > round) {
				more++;
				next = least(next, tiles[s]);
			}
		int in = (next - round) * more;
		if (t < in) {
			int rank = (unsigned)t % (unsigned)more, source = 0;
#pragma unroll
			for (int s = 0; s < width; s++)
				if (tiles[s] > round && rank-- == 0)
					source = s;
			return Place{source, round + (int)((unsigned)t / (unsigned)more)};
		}
		t -= in;
		round = next;
	}
}

template <typename V>
static __device__ __forceinline__ void pull(const V* const (&xs)[width], const i32* const (&idxs)[width],
                                            V* const (&ys)[width], const i64 (&ns)[width]) {
	int tiles[width], all = 0;
#pragma unroll
	for (int s = 0; s < width; s++)
		all += tiles[s] = (int)((unsigned long long)(ns[s] + tile - 1) / tile);
	for (int t = blockIdx.x; t < all; t += gridDim.x) {
		Place p = placeOf(tiles, t);
		i64 k = (i64)p.tile * tile + threadIdx.x, n = pick(ns, p.source), from[each];
		const V* x = pick(xs, p.source);
		const i32* idx = pick(idxs, p.source);
		V *to = pick(ys, p.source) + k, v[each];
#pragma unroll
		for (int i = 0; i < each; i++)
			from[i] = k + i * block;
		if (idx)
#pragma unroll
			for (int i = 0; i < each; i++)
				if (k + i * block < n)
					from[i] = __ldg(idx + k + i * block);
#pragma unroll
		for (int i = 0; i < each; i++)
			if (k + i * block < n)
				v[i] = x[from[i]];
#pragma unroll
		for (int i = 0; i < each; i++)
			if (k + i * block < n)
				to[i * block] = v[i];
	}
}

// As in msrep_add_carries, lanes past the end take the last row with a carry of 0.
template <typename V>
static __device__ __forceinline__ void pullCarries(const i32* row, const V* const (&carries)[width], V* y, i64 count, i64 rows) {
	int lane = threadIdx.x;
	i32 r = __ldg(row + least((i64)lane, count - 1)), next = shflDown(r, 1);
	V v = lane < count ? *pick(carries, lane) : V(0);
	v = V(0) + warpSegments(r, v);
	if ((lane == 31 || next != r) && r < rows && blockIdx.x == 0)
		y[r] += v;
}

#define MSREP_EXCHANGE(suffix, V)                                                                                      \
	extern "C" __global__ void __launch_bounds__(block) msrep_pull_##suffix(                                           \
	    const V* x0, const V* x1, const V* x2, const V* x3, const V* x4, const V* x5, const V* x6, const V* x7,        \
	    const i32* idx0, const i32* idx1, const i32* idx2, const i32* idx3, const i32* idx4, const i32* idx5,          \
	    const i32* idx6, const i32* idx7, V* y0, V* y1, V* y2, V* y3, V* y4, V* y5, V* y6, V* y7, i64 n0, i64 n1,      \
	    i64 n2, i64 n3, i64 n4, i64 n5, i64 n6, i64 n7) {                                                              \
		const V* const x[] = {x0, x1, x2, x3, x4, x5, x6, x7};                                                         \
		const i32* const idx[] = {idx0, idx1, idx2, idx3, idx4, idx5, idx6, idx7};                                     \
		V* const y[] = {y0, y1, y2, y3, y4, y5, y6, y7};                                                               \
		const i64 n[] = {n0, n1, n2, n3, n4, n5, n6, n7};                                                              \
		pull<V>(x, idx, y, n);                                                                                         \
	}                                                                                                                  \
	extern "C" __global__ void __launch_bounds__(32) msrep_pull_carries_##suffix(                                      \
	    const i32* row, const V* c0, const V* c1, const V* c2, const V* c3, const V* c4, const V* c5, const V* c6,     \
	    const V* c7, V* y, i64 count, i64 rows) {                                                                      \
		const V* const carries[] = {c0, c1, c2, c3, c4, c5, c6, c7};                                                   \
		pullCarries<V>(row, carries, y, count, rows);                                                                  \
	}
MSREP_EXCHANGE(f64, double)
MSREP_EXCHANGE(f32, float)
