// y = alpha*A*x + beta*y with tiles of rows whose sums are in shared memory (package tiled):
//
//   y[r] = alpha * sum over k of val[k]*x[column(k)] + beta*y[r]
//
// A tile has rounds of 512 places, one for each thread of a block. Place i has the column base[i/32] plus the lower 16 bits
// of code[i], and the sum that the upper 16 bits number; 0xffff there means no entry. The places of a round have different
// sums. The sums of row j of the tile are [sum[j], sum[j+1]); the row is their total, in this order. A first row that
// begins in an earlier tile goes to carryRow and carryVal, which msrep_add_carries adds; other tiles have a carry of 0 for
// their first row. head has three words for each tile: its first round, where its rows begin in `sum`, and its first row
// times 2, plus 1 if that began earlier.
// The result has the same bits every time: there are no atomics.
#include "include/place.cuh"

static constexpr int block = 512;
static constexpr int resident = 2;  // blocks that fit on a multiprocessor: 64 registers a thread
static constexpr int ahead = 4;     // rounds whose loads are issued at once
static constexpr i32 absent = 0xffff;

extern __shared__ i64 shared[];

// Batch is this thread's places of the next `ahead` rounds.
template <typename V, typename T> struct Batch {
	i32 code[ahead], base[ahead];
	T a[ahead];
	V v[ahead];

	// fetch loads values and codes of the rounds from `round` on; there are none from `past` on.
	__device__ __forceinline__ void fetch(const T* val, const i32* codes, const i32* bases, i64 round, i64 past) {
#pragma unroll
		for (int i = 0; i < ahead; i++) {
			code[i] = -1;
			base[i] = 0;
			a[i] = T(0);
			if (round + i < past) {
				i64 k = (round + i) * block + threadIdx.x;
				code[i] = once(codes + k);
				a[i] = once(val + k);
				base[i] = __ldg(bases + (k >> 5));
			}
		}
	}

	// gather loads the elements of x.
	__device__ __forceinline__ void gather(const V* x) {
#pragma unroll
		for (int i = 0; i < ahead; i++) {
			v[i] = V(0);
			if ((unsigned)code[i] >> 16 != absent)
				v[i] = __ldg(x + (base[i] + (code[i] & 0xffff)));
		}
	}

	// add adds the products to the sums, round by round.
	__device__ __forceinline__ void add(V* sums) const {
#pragma unroll
		for (int i = 0; i < ahead; i++) {
			i32 s = (i32)((unsigned)code[i] >> 16);
			if (s != absent)
				sums[s] += V(a[i]) * v[i];
			__syncthreads();
		}
	}
};

template <typename V, typename T>
static __device__ __forceinline__ void majorTiles(const T* val, const i32* code, const i32* base, const i64* head,
                                                  const i32* sum, const V* x, V* y, V* carry, i32* carryRow, V* carryVal,
                                                  i64 tiles, i64 skip, V alpha, V beta) {
	V* sums = (V*)shared;
	for (i64 t = blockIdx.x; t < tiles; t += gridDim.x) {
		i64 round = __ldg(head + 3 * t), at = __ldg(head + 3 * t + 1), row = __ldg(head + 3 * t + 2);
		i64 past = __ldg(head + 3 * t + 3);
		int rows = (int)(__ldg(head + 3 * t + 4) - at) - 1, begun = (int)(row & 1);
		row >>= 1;
		Batch<V, T> now, next;
		now.fetch(val, code, base, round, past);
		for (int i = threadIdx.x, n = __ldg(sum + at + rows); i < n; i += block)
			sums[i] = V(0);
		now.gather(x);
		__syncthreads();
#pragma unroll 1
		for (; round < past; round += ahead) {
			next.fetch(val, code, base, round + ahead, past);
			now.add(sums);
			next.gather(x);
			now = next;
		}
		for (int j = threadIdx.x; j < rows; j += block) {
			V total = V(0);
			for (int i = __ldg(sum + at + j), n = __ldg(sum + at + j + 1); i < n; i++)
				total += sums[i];
			bool continues = j == 0 && begun;
			if (carryRow && j == 0) {
				carryRow[t] = (i32)row;
				carryVal[t] = continues ? alpha * total : V(0);
			}
			if (!continues)
				finish<V>(0, y, carry, row + j, skip, alpha, total, beta);
		}
		__syncthreads();
	}
}

#define MSREP_MAJOR_TILES(suffix, V)                                                                                   \
	extern "C" __global__ void __launch_bounds__(block, resident) msrep_major_tiles_##suffix(                          \
	    const V* val, const i32* code, const i32* base, const i64* head, const i32* sum, const V* x, V* y, V* carry,   \
	    i32* carryRow, V* carryVal, i64 tiles, i64 skip, V alpha, V beta) {                                            \
		majorTiles<V, V>(val, code, base, head, sum, x, y, carry, carryRow, carryVal, tiles, skip, alpha, beta);       \
	}
MSREP_MAJOR_TILES(f64, double)
MSREP_MAJOR_TILES(f32, float)

extern "C" __global__ void __launch_bounds__(block, resident) msrep_major_tiles_short_f64(
    const float* val, const i32* code, const i32* base, const i64* head, const i32* sum, const double* x, double* y,
    double* carry, i32* carryRow, double* carryVal, i64 tiles, i64 skip, double alpha, double beta) {
	majorTiles<double, float>(val, code, base, head, sum, x, y, carry, carryRow, carryVal, tiles, skip, alpha, beta);
}
