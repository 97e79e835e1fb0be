// Gather with slices of 32 rows, one thread for each row, and as few bytes for an entry
// as the slice allows (package sliced):
//
//	y[r] = alpha * sum over k of val[k]*x[idx[k]] + beta*y[r],   r = perm[i] for place i
//
// A slice is `width` steps of one place a lane. Its values come first, then its
// columns, in one of three ways:
//
//	runs  a first column and a mask for each step: lane l has column first+l where its
//	      bit is set. Diagonals take 8 bytes for 32 entries.
//	near  16 bits a place, counted from the base of the slice; all ones mean no entry
//	far   32 bits a place, negative for no entry
//
// Values are stored as they are, or as float where that holds all of them exactly
// (short). Slices of few steps are over before a warp has the columns of the next
// from memory: kernels for those (narrow) ask for them one slice ahead. No atomics, no shared memory: the result has the same bits every time.
#include "include/place.cuh"

static constexpr int block = 128;
static constexpr int resident = 8;  // blocks that fit on a multiprocessor: 64 registers a thread, no spills
static constexpr int fewer = 7;     // the same of narrow_f64: 72 registers
static constexpr int ahead = 8;     // steps in flight, half of them for the last few

enum Kind { runs, near, far };
static constexpr i32 absent = 0xffff;  // a place of a near slice without an entry

// batch adds the next n steps of a row, of which `left` are there. All loads of values
// and columns are under way before the first of x waits for one of them, and those of x
// before the first sum. x is that of column 0, of the base of a near slice, or of the lane.
template <typename V, typename T, Kind kind, int n>
static __device__ __forceinline__ V batch(V sum, const T* val, const i32* columns, const V* x, i32 left, int lane) {
	T a[n];
	i32 col[n], mask[n];
#pragma unroll
	for (int i = 0; i < n; i++) {
		a[i] = T(0);
		col[i] = kind == near ? absent : -1;
		if (i < left) {
			a[i] = once(val + 32 * i);
			if (kind == near)
				col[i] = once((const u16*)columns + 32 * i + lane);
			if (kind == far)
				col[i] = once(columns + 32 * i + lane);
		}
	}
	if (kind == runs) {
#pragma unroll
		for (int i = 0; i < n; i += 2) {
			int4 two{0, 0, 0, 0};  // steps; an odd last one has zeros behind it
			if (i < left)
				two = __ldg((const int4*)columns + i / 2);
			col[i] = two.x;
			mask[i] = two.y;
			col[i + 1] = two.z;
			mask[i + 1] = two.w;
		}
	}
	__syncwarp();  // compilers keep their order here
	V v[n];
#pragma unroll
	for (int i = 0; i < n; i++) {
		v[i] = V(0);
		if (kind == runs ? mask[i] >> lane & 1 : kind == near ? col[i] != absent : col[i] >= 0)
			v[i] = __ldg(x + col[i]);
	}
#pragma unroll
	for (int i = 0; i < n; i++)
		sum += V(a[i]) * v[i];
	return sum;
}

// walk is the sum of one row.
template <typename V, typename T, Kind kind>
static __device__ __forceinline__ V walk(const T* val, const i32* columns, i32 width, const V* x, int lane) {
	constexpr int words = kind == runs ? 2 : kind == near ? 16 : 32;  // of columns in a step
	V sum = V(0);
#pragma unroll 1
	for (; width > ahead / 2; width -= ahead) {
		sum = batch<V, T, kind, ahead>(sum, val, columns, x, width, lane);
		val += 32 * ahead;
		columns += words * ahead;
	}
	if (width > 0)
		sum = batch<V, T, kind, ahead / 2>(sum, val, columns, x, width, lane);
	return sum;
}

template <typename V, typename T>
static __device__ __forceinline__ void gatherSlices(const i64* data, const i64* head, const i32* perm, const V* x, V* y,
                                                    V* carry, i64 rows, i64 skip, V alpha, V beta) {
	// A block takes neighbouring slices, so that it finds its x in the caches.
	constexpr i32 warps = block / 32;
	int lane = threadIdx.x & 31;
	i64 slices = (rows + 31) / 32;
	Share own = share((slices + warps - 1) / warps, blockIdx.x, gridDim.x);
	i32 w = (i32)least(own.first * warps + (threadIdx.x >> 5), slices), end = (i32)least(own.behind * warps, slices);
	Pair<i64> next{0, 0};
	if (w < end)
		next = ldgPair(head + 2 * (i64)w);
#pragma unroll 1
	for (; w < end; w += warps) {
		const T* val = (const T*)(data + 4 * next.a);
		i32 base = (i32)next.b, shape = (i32)(next.b >> 32), width = shape >> 2, kind = shape & 3;
		if (w + warps < end)  // on its way meanwhile
			next = ldgPair(head + 2 * (i64)(w + warps));
		i32 i = 32 * w + lane, r = i;
		if (perm && i < rows)
			r = __ldg(perm + i);
		const i32* columns = (const i32*)(val + 32 * (i64)width);
		V sum;
		val += lane;
		if (kind == runs)
			sum = walk<V, T, runs>(val, columns, width, x + lane, lane);
		else if (kind == near)
			sum = walk<V, T, near>(val, columns, width, x + base, lane);
		else
			sum = walk<V, T, far>(val, columns, width, x + base, lane);
		if (i < rows)
			finish<V>(0, y, carry, r, skip, alpha, sum, beta);
	}
}

// Slice is what a head says: where a slice is, the base of its columns, its width and kind.
template <typename T> struct Slice {
	const T* val;
	i32 base, shape;

	__device__ __forceinline__ i32 width() const { return shape >> 2; }
	__device__ __forceinline__ i32 kind() const { return shape & 3; }
	__device__ __forceinline__ const i32* columns() const { return (const i32*)(val + 32 * (i64)width()); }

	// few gives each lane one of the first steps of runs: its first column, and its mask above.
	__device__ __forceinline__ i64 few(int lane) const {
		return kind() == runs && lane < ahead && lane < width() ? __ldg((const i64*)columns() + lane) : 0;
	}
};

template <typename T> static __device__ __forceinline__ Slice<T> slice(const i64* data, Pair<i64> head) {
	return Slice<T>{(const T*)(data + 4 * head.a), (i32)head.b, (i32)(head.b >> 32)};
}

// walkFew is the sum of one row of a slice of runs whose first steps the lanes have: all
// loads of values and of x are under way at once.
template <typename V, typename T>
static __device__ __forceinline__ V walkFew(const T* val, const i32* columns, i32 width, const V* x, int lane, i64 few) {
	T a[ahead];
	V v[ahead], sum = V(0);
#pragma unroll
	for (int i = 0; i < ahead; i++) {
		a[i] = T(0);
		v[i] = V(0);
		i64 step = shfl(few, i);
		if (i < width)
			a[i] = once(val + 32 * i);
		if ((i32)(step >> 32) >> lane & 1)
			v[i] = __ldg(x + (i32)step);
	}
#pragma unroll
	for (int i = 0; i < ahead; i++)
		sum += V(a[i]) * v[i];
	if (width > ahead)
		sum += walk<V, T, runs>(val + 32 * ahead, columns + 2 * ahead, width - ahead, x, lane);
	return sum;
}

// gatherNarrow is gatherSlices with the runs of the next slice and the head of that behind on
// their way while a block is at one slice.
template <typename V, typename T>
static __device__ __forceinline__ void gatherNarrow(const i64* data, const i64* head, const i32* perm, const V* x, V* y,
                                                    V* carry, i64 rows, i64 skip, V alpha, V beta) {
	constexpr i32 warps = block / 32;
	int lane = threadIdx.x & 31;
	i64 slices = (rows + 31) / 32;
	Share own = share((slices + warps - 1) / warps, blockIdx.x, gridDim.x);
	i32 w = (i32)least(own.first * warps + (threadIdx.x >> 5), slices), end = (i32)least(own.behind * warps, slices);
	if (w >= end)
		return;
	Slice<T> at = slice<T>(data, ldgPair(head + 2 * (i64)w));
	Pair<i64> next{0, 0};
	if (w + warps < end)
		next = ldgPair(head + 2 * (i64)(w + warps));
	i64 few = at.few(lane);
#pragma unroll 1
	for (; w < end; w += warps) {
		Slice<T> then = slice<T>(data, next);
		i64 here = few;
		if (w + warps < end) {
			few = then.few(lane);
			if (w + 2 * warps < end)
				next = ldgPair(head + 2 * (i64)(w + 2 * warps));
		}
		i32 i = 32 * w + lane, r = i;
		if (perm && i < rows)
			r = __ldg(perm + i);
		V sum;
		if (at.kind() == runs)
			sum = walkFew<V, T>(at.val + lane, at.columns(), at.width(), x + lane, lane, here);
		else if (at.kind() == near)
			sum = walk<V, T, near>(at.val + lane, at.columns(), at.width(), x + at.base, lane);
		else
			sum = walk<V, T, far>(at.val + lane, at.columns(), at.width(), x + at.base, lane);
		if (i < rows)
			finish<V>(0, y, carry, r, skip, alpha, sum, beta);
		at = then;
	}
}

#define MSREP_GATHER_SLICES(suffix, V, narrow)                                                                         \
	extern "C" __global__ void __launch_bounds__(block, resident) msrep_gather_slices_##suffix(                         \
	    const i64* data, const i64* head, const i32* perm, const V* x, V* y, V* carry, i64 rows, i64 skip, V alpha,    \
	    V beta) {                                                                                                      \
		gatherSlices<V, V>(data, head, perm, x, y, carry, rows, skip, alpha, beta);                                    \
	}                                                                                                                  \
	extern "C" __global__ void __launch_bounds__(block, narrow) msrep_gather_narrow_##suffix(                           \
	    const i64* data, const i64* head, const i32* perm, const V* x, V* y, V* carry, i64 rows, i64 skip, V alpha,    \
	    V beta) {                                                                                                      \
		gatherNarrow<V, V>(data, head, perm, x, y, carry, rows, skip, alpha, beta);                                    \
	}
MSREP_GATHER_SLICES(f64, double, fewer)
MSREP_GATHER_SLICES(f32, float, resident)

#define MSREP_GATHER_SHORT(suffix, V)                                                                                  \
	extern "C" __global__ void __launch_bounds__(block, resident) msrep_gather_slices_short_##suffix(                   \
	    const i64* data, const i64* head, const i32* perm, const V* x, V* y, V* carry, i64 rows, i64 skip, V alpha,    \
	    V beta) {                                                                                                      \
		gatherSlices<V, float>(data, head, perm, x, y, carry, rows, skip, alpha, beta);                                \
	}                                                                                                                  \
	extern "C" __global__ void __launch_bounds__(block, resident) msrep_gather_narrow_short_##suffix(                   \
	    const i64* data, const i64* head, const i32* perm, const V* x, V* y, V* carry, i64 rows, i64 skip, V alpha,    \
	    V beta) {                                                                                                      \
		gatherNarrow<V, float>(data, head, perm, x, y, carry, rows, skip, alpha, beta);                                \
	}
MSREP_GATHER_SHORT(f64, double)
