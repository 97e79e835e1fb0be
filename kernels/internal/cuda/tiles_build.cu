// Tiles of rows for msrep_major_tiles, built from a part in CSR: the arrays that tiled.Plan.Build makes, element by element.
//
// Tile t has the entries from[t] <= k < from[t+1]. Its rows and their sums are in `head` and `sum`, as in tiles.cu; the
// entries of a row take the sums of the row in turn. One block builds a tile, in two steps:
//
//   sort     key[k] = column * 2^32 + k - from[t], sorted by column, entries of one column in their order. sumOf[k] is the
//            number of the sum of entry k. If the number of passes is odd, the sorted keys are in `spare`.
//   arrange  Entries take places in rounds of up to 512 with different sums: a round takes, in the order of the keys, each
//            entry whose sum it does not have yet. Entries that it passes over wait for the next round. The columns of a
//            round ascend. Its entries are stored in chunks of 32 places; a new chunk begins where a column is 2^16 or
//            more from the first one of its chunk. Places without an entry fill it up to a multiple of 512.
//
// With `count`, the second step only counts the rounds of 512 places.
#include "include/index.cuh"
#include "include/team.cuh"

static constexpr int block = 512;
static constexpr int warps = block / 32;
static constexpr int digits = 1 << 8;          // a pass sorts by 8 bits of the column
static constexpr int reach = 1 << 16;          // columns from the first of a chunk that a code can express
static constexpr i32 vacant = (i32)0xffff0000; // code of a place without an entry
static constexpr int maxRounds = 1 << 22;      // of one tile

using Block = Team<warps>;

static __device__ __forceinline__ int lane() { return Block::lane(); }
static __device__ __forceinline__ int warp() { return Block::warp(); }

// number sets the keys of a tile, in the order of its entries, and their sums. The tile has n entries from `first` on, in
// `rows` rows from `row` on, whose sums begin at sum[0].
static __device__ __forceinline__ void number(const i64* ptr, const i32* idx, const i32* sum, i64* key, u16* sumOf, i64 first,
                                              int n, i64 row, int rows) {
	for (int k = threadIdx.x; k < n; k += block) {
		i64 r = majorOf(ptr, row, row + rows - 1, first + k);
		i32 s = __ldg(sum + (r - row)), sums = __ldg(sum + (r - row) + 1) - s;
		unsigned inRow = (unsigned)(first + k - most(__ldg(ptr + r), first));
		sumOf[k] = (u16)(s + (i32)(inRow % (unsigned)sums));
		key[k] = (i64)__ldg(idx + first + k) << 32 | k;
	}
}

// pass sorts n keys by the 8 bits from `shift` on; equal ones keep their order. Each warp takes consecutive keys. at has a
// counter for each digit and warp.
static __device__ __forceinline__ void pass(const i64* from, i64* to, int n, int shift, i32* at, i32* totals) {
	int each = (n + block - 1) / block * 32, begin = least(warp() * each, n), end = least(begin + each, n);
	for (int i = threadIdx.x; i < digits * warps; i += block)
		at[i] = 0;
	__syncthreads();
	for (int i = begin + lane(); i - lane() < end; i += 32) {
		int d = i < end ? (int)(from[i] >> shift) & (digits - 1) : digits;
		unsigned same = __match_any_sync(0xffffffffu, d);
		if (i < end && lowest(same) == lane())
			at[d * warps + warp()] += __popc(same);
		__syncwarp();
	}
	__syncthreads();
	constexpr int run = digits * warps / block; // counters of a thread
	i32 mine[run], sum = 0, all;
#pragma unroll
	for (int j = 0; j < run; j++) {
		mine[j] = at[threadIdx.x * run + j];
		sum += mine[j];
	}
	i32 next = Block{totals}.before(sum, all);
#pragma unroll
	for (int j = 0; j < run; j++) {
		at[threadIdx.x * run + j] = next;
		next += mine[j];
	}
	__syncthreads();
	for (int i = begin + lane(); i - lane() < end; i += 32) {
		i64 v = i < end ? from[i] : 0;
		int d = i < end ? (int)(v >> shift) & (digits - 1) : digits;
		unsigned same = __match_any_sync(0xffffffffu, d);
		i32 place = i < end ? at[d * warps + warp()] : 0;
		__syncwarp();
		if (i < end) {
			to[place + __popc(same & ((1u << lane()) - 1))] = v;
			if (lowest(same) == lane())
				at[d * warps + warp()] = place + __popc(same);
		}
		__syncwarp();
	}
	__syncthreads();
}

extern "C" __global__ void __launch_bounds__(block) msrep_tiles_sort(const i64* ptr, const i32* idx, const i64* from,
                                                                     const i64* head, const i32* sum, i64* key, i64* spare,
                                                                     u16* sumOf, i64 tiles, i64 passes) {
	__shared__ i32 at[digits * warps], totals[warps];
	for (i64 t = blockIdx.x; t < tiles; t += gridDim.x) {
		i64 first = __ldg(from + t), sums = __ldg(head + 3 * t + 1), row = __ldg(head + 3 * t + 2) >> 1;
		int n = (int)(__ldg(from + t + 1) - first), rows = (int)(__ldg(head + 3 * t + 4) - sums) - 1;
		i64 *a = key + first, *b = spare + first;
		number(ptr, idx, sum + sums, a, sumOf + first, first, n, row, rows);
		__syncthreads();
		for (int p = 0; p < (int)passes; p++) {
			pass(a, b, n, 32 + 8 * p, at, totals);
			i64* other = a;
			a = b;
			b = other;
		}
	}
}

// Round is the entries of a round, in shared memory.
struct Round {
	i32 column[block], sum[block], entry[block]; // entry is the index in the tile
	i32 start[block + 1];                         // first entry of each chunk, then the number of entries
	i32 chunks;

	// cut divides n entries into chunks. One warp calls it.
	__device__ __forceinline__ void cut(int n) {
		int c = 0;
		for (int begin = 0; begin < n; c++) {
			int j = begin + lane();
			if (lane() == 0)
				start[c] = begin;
			begin += __popc(ballot(j < n && column[j] - column[begin] < reach));
		}
		if (lane() == 0) {
			start[c] = n;
			chunks = c;
		}
	}

	// store writes the places of the round from `place` on.
	template <typename V, typename T>
	__device__ __forceinline__ void store(const V* val, T* outVal, i32* code, i32* base, i64 place) const {
		int places = (chunks * 32 + block - 1) / block * block;
		for (int i = threadIdx.x; i < places; i += block) {
			int c = i >> 5, j = c < chunks ? start[c] + lane() : 0;
			bool full = c < chunks && j < start[c + 1];
			i32 origin = c < chunks ? column[start[c]] : 0;
			code[place + i] = full ? sum[j] << 16 | (column[j] - origin) : vacant;
			outVal[place + i] = full ? T(__ldg(val + entry[j])) : T(0);
			if (lane() == 0)
				base[(place + i) >> 5] = origin;
		}
	}
};

// arrangeTile returns the number of rounds of 512 places of a tile with n entries. It stores them unless code is null. queue
// and passed have n elements each. owner has a word for each sum: (maxRounds - round) * 512 + the thread whose entry the
// round took last.
template <typename V, typename T>
static __device__ __forceinline__ i64 arrangeTile(const i64* key, const u16* sumOf, const V* val, i32* queue, i32* passed, int n,
                                               int sums, T* outVal, i32* code, i32* base, i64 round, Round& r, i32* owner,
                                               i32* totals, i32* last) {
	for (int i = threadIdx.x; i < sums; i += block)
		owner[i] = 0x7fffffff;
	i64 rounds = 0;
	int head = 0, tail = 0, next = 0; // of the queue, and of the keys that were never looked at
	for (int tag = maxRounds - 2; head < tail || next < n; tag--) {
		int taken = 0, waiting = 0;
		while (taken < block && (head < tail || next < n)) {
			// The candidates are the queue, then new keys.
			int i = head + threadIdx.x;
			i32 at = i < tail ? queue[i] : next + (i - tail);
			bool valid = i < tail || at < n;
			i64 k = valid ? key[at] : 0;
			i32 s = valid ? sumOf[(i32)k] : 0;
			__syncthreads(); // owner is complete, and no thread reads last any more
			bool won = valid && owner[s] >> 9 != tag;
			if (threadIdx.x == 0)
				*last = least(block, tail - head + n - next) - 1;
			__syncthreads();
			if (won)
				atomicMin(owner + s, tag << 9 | (i32)threadIdx.x);
			__syncthreads();
			won = won && owner[s] == (tag << 9 | (i32)threadIdx.x);
			i32 all, rank = Block{totals}.before(won, all);
			bool takes = won && taken + rank < block;
			if (takes) {
				r.column[taken + rank] = (i32)(k >> 32);
				r.sum[taken + rank] = s;
				r.entry[taken + rank] = (i32)k;
				if (taken + rank == block - 1)
					*last = threadIdx.x;
			}
			__syncthreads();
			int used = *last + 1; // candidates
			all = least(all, block - taken);
			if ((int)threadIdx.x < used && !takes)
				passed[waiting + threadIdx.x - rank] = at;
			taken += all;
			waiting += used - all;
			int queued = least(used, tail - head);
			head += queued;
			next += used - queued;
		}
		__syncthreads();
		if (head == tail) // passed may have more entries than the queue had
			head = tail = waiting;
		head -= waiting;
		for (int i = threadIdx.x; i < waiting; i += block)
			queue[head + i] = passed[i];
		if (warp() == 0)
			r.cut(taken);
		__syncthreads();
		if (code)
			r.store(val, outVal, code, base, (round + rounds) * block);
		rounds += (r.chunks * 32 + block - 1) / block;
	}
	return rounds;
}

extern __shared__ i32 shared[];

template <typename V, typename T>
static __device__ __forceinline__ void arrangeTiles(const i64* key, i64* spare, const u16* sumOf, const V* val, const i64* from,
                                                 const i64* head, const i32* sum, i64* count, T* outVal, i32* code, i32* base,
                                                 i64 tiles) {
	__shared__ Round round;
	__shared__ i32 totals[warps], last;
	for (i64 t = blockIdx.x; t < tiles; t += gridDim.x) {
		i64 first = __ldg(from + t);
		int n = (int)(__ldg(from + t + 1) - first), sums = __ldg(sum + __ldg(head + 3 * t + 4) - 1);
		i32* queue = (i32*)(spare + first);
		i64 rounds = arrangeTile<V, T>(key + first, sumOf + first, val + first, queue, queue + n, n, sums, outVal, code, base,
		                            __ldg(head + 3 * t), round, shared, totals, &last);
		if (count && threadIdx.x == 0)
			count[t] = rounds;
		__syncthreads();
	}
}

#define MSREP_TILES_ARRANGE(suffix, V)                                                                                       \
	extern "C" __global__ void __launch_bounds__(block) msrep_tiles_arrange_##suffix(                                         \
	    const i64* key, i64* spare, const u16* sumOf, const V* val, const i64* from, const i64* head, const i32* sum,       \
	    i64* count, V* outVal, i32* code, i32* base, i64 tiles) {                                                          \
		arrangeTiles<V, V>(key, spare, sumOf, val, from, head, sum, count, outVal, code, base, tiles);                         \
	}
MSREP_TILES_ARRANGE(f64, double)
MSREP_TILES_ARRANGE(f32, float)

extern "C" __global__ void __launch_bounds__(block) msrep_tiles_arrange_short_f64(
    const i64* key, i64* spare, const u16* sumOf, const double* val, const i64* from, const i64* head, const i32* sum,
    i64* count, float* outVal, i32* code, i32* base, i64 tiles) {
	arrangeTiles<double, float>(key, spare, sumOf, val, from, head, sum, count, outVal, code, base, tiles);
}
