// y = alpha*A*x + beta*y with slices of 32 rows, one thread for each row, and few bytes
// for each entry (package sliced):
//
//   y[r] = alpha * sum over k of val[k]*x[idx[k]] + beta*y[r],   r = perm[i] for place i
//
// A slice has `width` steps of one place for each lane. It stores its values, then its
// columns, in one of three kinds:
//
//   runs  a first column and a mask for each step: lane l has column first+l if its
//         bit is set. A diagonal takes 8 bytes for 32 entries.
//   near  16 bits a place, counted from the base of the slice; all ones mean no entry
//   far   32 bits a place, negative for no entry
//
// Values have their own type, or float if float represents all of them exactly (short).
// There are no atomics and no shared memory: the result has the same bits every time.
#include "include/place.cuh"

static constexpr int block = 128;
static constexpr int resident = 8;  // blocks that fit on a multiprocessor: 64 registers a thread, no spills
static constexpr int ahead = 8;     // steps that a lane loads at once; 6 or 4 for the last few

enum Kind { runs, near, far };
static constexpr i32 absent = 0xffff;  // a place of a near slice without an entry

// batch adds the next n steps of a row, of which `left` exist. All loads of values and
// columns are issued before the first load of x, and all loads of x before the first
// sum. x points to the element of column 0, of the base of a near slice, or of the
// lane's offset.
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
			int4 two{0, 0, 0, 0};  // steps; zeros follow an odd last one
			if (i < left)
				two = __ldg((const int4*)columns + i / 2);
			col[i] = two.x;
			mask[i] = two.y;
			col[i + 1] = two.z;
			mask[i + 1] = two.w;
		}
	}
	__syncwarp();  // keeps compilers from reordering
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

// walk returns the sum of one row.
template <typename V, typename T, Kind kind>
static __device__ __forceinline__ V walk(const T* val, const i32* columns, i32 width, const V* x, int lane) {
	constexpr int words = kind == runs ? 2 : kind == near ? 16 : 32;  // words of the columns of a step
	V sum = V(0);
#pragma unroll 1
	for (; width > 6; width -= ahead) {
		sum = batch<V, T, kind, ahead>(sum, val, columns, x, width, lane);
		val += 32 * ahead;
		columns += words * ahead;
	}
	if (width > 4)
		sum = batch<V, T, kind, 6>(sum, val, columns, x, width, lane);
	else if (width > 0)
		sum = batch<V, T, kind, ahead / 2>(sum, val, columns, x, width, lane);
	return sum;
}

template <typename V, typename T>
static __device__ __forceinline__ void gatherSlices(const i64* data, const i64* head, const i32* perm, const V* x, V* y,
                                                    V* carry, i64 rows, i64 skip, V alpha, V beta) {
	// A block takes consecutive slices, so that it finds its x in the caches.
	constexpr i32 warps = block / 32;
	int lane = threadIdx.x & 31;
	i64 slices = (rows + 31) / 32;
	Share own = share((slices + warps - 1) / warps, blockIdx.x, gridDim.x);
	i32 w = (i32)least(own.first * warps + (threadIdx.x >> 5), slices), end = (i32)least(own.past * warps, slices);
	Pair<i64> next{0, 0};
	if (w < end)
		next = ldgPair(head + 2 * (i64)w);
#pragma unroll 1
	for (; w < end; w += warps) {
		const T* val = (const T*)(data + 4 * next.a);
		i32 base = (i32)next.b, shape = (i32)(next.b >> 32), width = shape >> 2, kind = shape & 3;
		if (w + warps < end)  // loads ahead
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

#define MSREP_GATHER_SLICES(suffix, V)                                                                                 \
	extern "C" __global__ void __launch_bounds__(block, resident) msrep_major_slices_##suffix(                        \
	    const i64* data, const i64* head, const i32* perm, const V* x, V* y, V* carry, i64 rows, i64 skip, V alpha,    \
	    V beta) {                                                                                                      \
		gatherSlices<V, V>(data, head, perm, x, y, carry, rows, skip, alpha, beta);                                    \
	}
MSREP_GATHER_SLICES(f64, double)
MSREP_GATHER_SLICES(f32, float)

extern "C" __global__ void __launch_bounds__(block, resident) msrep_major_slices_short_f64(
    const i64* data, const i64* head, const i32* perm, const double* x, double* y, double* carry, i64 rows, i64 skip,
    double alpha, double beta) {
	gatherSlices<double, float>(data, head, perm, x, y, carry, rows, skip, alpha, beta);
}
