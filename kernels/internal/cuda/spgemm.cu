// C = A B for sparse matrices in CSR, row by row (Gustavson 1978):
//
//   C[r][j] = sum over the entries k of row r of A of val[k]*B[idx[k]][j]
//
// The count kernels count the entries of each row of C. The host computes the pointers of
// C from these counts. The fill kernels then compute columns and values. As in nsparse
// (Nagasaka et al. 2017) and spECK (Parger et al. 2020), the size of a row of C decides
// on its accumulator:
//
//   warp   a warp for each row, a hash table in shared memory
//   block  a block for each row, a hash table in shared memory
//   dense  a block for each row; in global memory, an element for each column of B, and
//          a bit that is set if the row has the column
//
// A team is the warp or the block of a row. It takes 32 entries of A's row at a time and
// numbers their products in the order of A's row. Successive lanes take successive
// products, so no lane is idle where rows of B are short. Lanes of a warp with the same
// column add their products in the order of the lanes, and the warps of a block take
// turns. Products are thus added in the order of A's row, without atomic additions, and
// each product and each sum is rounded: the bits are those of the same loop on a CPU.
//
// Parameters: row r of A has the entries ptrA[r] <= k < ptrA[r+1], with column
// idxA[k-firstA] and value valA[k-firstA]. Column c of A is row c-rowB of ptrB; its
// entries count from firstB. row[0 ... n-1] are the rows to compute. The columns of C
// ascend.
#include "include/index.cuh"
#include "include/team.cuh"

static constexpr int warps = 4;        // of a block with a row for each warp
static constexpr int wide = 8;         // warps of a block with one row
static constexpr int countWarp = 1024; // keys of a hash table that counts
static constexpr int countBlock = 8192;
static constexpr int fillWarp = 512;   // keys and sums of a hash table that adds
static constexpr int fillBlock = 2048;

// product returns a*b, rounded before any addition.
static __device__ __forceinline__ double product(double a, double b) {
	double p;
	asm("mul.rn.f64 %0, %1, %2;" : "=d"(p) : "d"(a), "d"(b));
	return p;
}
static __device__ __forceinline__ float product(float a, float b) {
	float p;
	asm("mul.rn.f32 %0, %1, %2;" : "=f"(p) : "f"(a), "f"(b));
	return p;
}

// Rows is a matrix in CSR, or its structure if val is not used.
template <typename V> struct Rows {
	const i64* ptr;
	const i32* idx;
	const V* val;
	i64 first;
};

// products calls add(column, product, live, busy) for all products of row r of A with B,
// in order: 32 consecutive products for each warp of the team at a time. live is false in
// lanes without a product; only the first busy warps have products. I is i64 where 32
// rows of B may have 2^31 entries.
template <int W, typename I, bool values, typename V, typename Add>
static __device__ __forceinline__ void products(Rows<V> a, Rows<V> b, i64 rowB, i64 r, Add add) {
	int lane = threadIdx.x & 31;
	i64 hi = __ldg(a.ptr + r + 1) - a.first;
	for (i64 lo = __ldg(a.ptr + r) - a.first; lo < hi; lo += 32) {
		i64 from = 0;  // of the lane's row of B
		I len = 0;
		V factor = V(0);
		if (lo + lane < hi) {
			i64 row = __ldg(a.idx + lo + lane) - rowB;
			from = __ldg(b.ptr + row);
			len = (I)(__ldg(b.ptr + row + 1) - from);
			from -= b.first;
			if (values)
				factor = __ldg(a.val + lo + lane);
		}
		I end = len;
#pragma unroll
		for (int d = 1; d < 32; d *= 2) {
			I other = shflUp(end, d);
			if (lane >= d)
				end += other;
		}
		from -= end - len;  // product t is entry from+t of B
		I total = shfl(end, 31);
#pragma unroll 1
		for (I base = 0; base < total; base += 32 * W) {
			I t = base + Team<W>::rank();
			bool live = t < total;
			int source = 0;  // the lane whose row of B has product t
#pragma unroll
			for (int d = 16; d > 0; d /= 2)
				if (shfl(end, source + d - 1) <= t)
					source += d;
			i64 k = shfl(from, source) + t;
			V p = values ? shfl(factor, source) : V(0);
			i32 col = 0;
			if (live) {
				col = __ldg(b.idx + k);
				if (values)
					p = product(p, __ldg(b.val + k));
			}
			add(col, p, live, (int)least(total - base + 31, (I)(32 * W)) / 32);
		}
	}
}

// inOrder adds the products of the lanes of a warp that have the same column, in the order
// of the lanes. same is the set of these lanes. The lowest one has lead set, and holds and
// returns the sum.
template <typename V> static __device__ __forceinline__ V inOrder(V sum, V p, unsigned same, bool lead) {
	unsigned rest = 0;
	if (lead) {
		sum += p;
		rest = same & (same - 1);
	}
	while (ballot(rest != 0)) {
		V other = shfl(p, rest ? lowest(rest) : 0);
		if (rest) {
			sum += other;
			rest &= rest - 1;
		}
	}
	return sum;
}

// Hash is a table of columns with open addressing and 2^log places. place returns the
// place of a column, and enters the column if it is not there.
struct Hash {
	static constexpr i32 none = -1;
	i32* key;
	int log;

	// of returns a table for n columns, which take at most three quarters of it.
	static __device__ __forceinline__ Hash of(i32* key, i64 n) {
		int log = 5;
		while (3ll << log < 4 * n)
			log++;
		return Hash{key, log};
	}

	__device__ __forceinline__ i32 places() const { return 1 << log; }

	__device__ __forceinline__ i32 place(i32 col, bool& entered) const {
		i32 at = (i32)((unsigned)col * 2654435769u >> (32 - log));
		for (;;) {
			i32 old = atomicCAS(key + at, none, col);
			entered = old == none;
			if (entered || old == col)
				return at;
			at = (at + 1) & (places() - 1);
		}
	}
};

// multiplications returns the number of products of row r, which is below 2^31, in all
// lanes.
template <typename V> static __device__ __forceinline__ i32 multiplications(Rows<V> a, Rows<V> b, i64 rowB, i64 r) {
	i32 sum = 0;
	i64 hi = __ldg(a.ptr + r + 1) - a.first;
	for (i64 k = __ldg(a.ptr + r) - a.first + (threadIdx.x & 31); k < hi; k += 32) {
		i64 row = __ldg(a.idx + k) - rowB;
		sum += (i32)(__ldg(b.ptr + row + 1) - __ldg(b.ptr + row));
	}
#pragma unroll
	for (int d = 16; d > 0; d /= 2)
		sum += shflXor(sum, d);
	return sum;
}

// countHash counts the entries of a row with a hash table.
template <int W> static __device__ __forceinline__ i64 countHash(Team<W> team, i32* key, Rows<float> a, Rows<float> b, i64 rowB, i64 r, i64 cols) {
	Hash table = Hash::of(key, least((i64)multiplications(a, b, rowB, r), cols));
	for (i32 i = team.rank(); i < table.places(); i += 32 * W)
		key[i] = Hash::none;
	team.sync();
	i32 mine = 0, all = 0;
	products<W, i32, false>(a, b, rowB, r, [&](i32 col, float, bool live, int) {
		bool entered = false;
		if (live)
			table.place(col, entered);
		mine += entered;
	});
	team.before(mine, all);
	return all;
}

// sort sorts n keys in ascending order, and their values with them: a bitonic network in
// which every comparison puts the smaller key first, so that n need not be a power of 2.
template <int W, typename V> static __device__ __forceinline__ void sort(Team<W> team, i32* key, V* val, i32 n) {
	for (int log = 1; n > 1 << (log - 1); log++) {
		for (int step = log - 1; step >= 0; step--) {
			// Pairs i and j: mirrored in a run of 2^log keys first, then 2^step apart.
			i32 pairs = (((n - 1) >> (step + 1)) + 1) << step;
			for (i32 p = team.rank(); p < pairs; p += 32 * W) {
				i32 low = p & ((1 << step) - 1), i = (p >> step << (step + 1)) + low;
				i32 j = step == log - 1 ? i + (2 << step) - 1 - 2 * low : i + (1 << step);
				if (j < n && key[j] < key[i]) {
					i32 k = key[i];
					key[i] = key[j];
					key[j] = k;
					V v = val[i];
					val[i] = val[j];
					val[j] = v;
				}
			}
			team.sync();
		}
	}
}

// rank returns how many of n keys are less than k. key is aligned to 16 bytes, and padded
// to a multiple of 4 keys with the largest number.
static __device__ __forceinline__ i32 rank(const i32* key, i32 n, i32 k) {
	i32 less = 0;
#pragma unroll 2
	for (i32 i = 0; i < n; i += 4) {
		int4 q = *(const int4*)(key + i);
		less += (q.x < k) + (q.y < k) + (q.z < k) + (q.w < k);
	}
	return less;
}

// Result is C: row r has the places ptr[r] <= k < ptr[r+1].
template <typename V> struct Result {
	const i64* ptr;
	i32* idx;
	V* val;
};

// fillHash computes a row with a hash table.
template <int W, typename V>
static __device__ __forceinline__ void fillHash(Team<W> team, i32* key, V* val, Rows<V> a, Rows<V> b, i64 rowB, i64 r, Result<V> c) {
	i64 to = __ldg(c.ptr + r);
	i32 n = (i32)(__ldg(c.ptr + r + 1) - to);
	Hash table = Hash::of(key, n);
	for (i32 i = team.rank(); i < table.places(); i += 32 * W) {
		key[i] = Hash::none;
		val[i] = V(-0.0);  // -0 + p is p for each p
	}
	team.sync();
	products<W, i32, true>(a, b, rowB, r, [&](i32 col, V p, bool live, int busy) {
		unsigned same = __match_any_sync(0xffffffffu, live ? col : -1);
		bool lead = live && lowest(same) == team.lane(), entered;
		i32 at = lead ? table.place(col, entered) : 0;
#pragma unroll 1
		for (int w = 0; w < busy; w++) {
			if (w == team.warp()) {
				V sum = inOrder(lead ? val[at] : V(0), p, same, lead);
				if (lead)
					val[at] = sum;
			}
			team.sync();
		}
	});
	// Move the columns to the front of the table. Each moves to a place at or before its own.
	i32 found = 0;
	for (i32 i = 0; i < table.places(); i += 32 * W) {
		i32 at = i + team.rank(), k = Hash::none, all;
		V v = V(0);
		if (at < table.places()) {
			k = key[at];
			v = val[at];
		}
		i32 place = found + team.before(k != Hash::none, all);
		if (k != Hash::none) {
			key[place] = k;
			val[place] = v;
		}
		found += all;
		if (W > 1)
			team.sync();
	}
	if (W == 1) {  // few keys: comparing each with all is faster than a sorting network
		if (team.lane() < 3)
			key[n + team.lane()] = 0x7fffffff;
		team.sync();
		for (i32 i = team.lane(); i < n; i += 32) {
			i64 at = to + rank(key, n, key[i]);
			c.idx[at] = key[i];
			c.val[at] = val[i];
		}
		team.sync();
	} else {
		sort(team, key, val, n);
		for (i32 i = team.rank(); i < n; i += 32 * W) {  // this thread clears the same places for the next row
			c.idx[to + i] = key[i];
			c.val[to + i] = val[i];
		}
	}
}

// Window is the range of the words of a bit set in which a row has columns.
struct Window {
	i32 lo, past;

	// of returns the union of the windows w of all threads of a block. range has 2 words
	// for each warp. Between two calls there must be a sync.
	static __device__ __forceinline__ Window of(Window w, i32 (*range)[2]) {
#pragma unroll
		for (int d = 16; d > 0; d /= 2) {
			w.lo = least(w.lo, shflXor(w.lo, d));
			w.past = most(w.past, shflXor(w.past, d));
		}
		if (Team<wide>::lane() == 0) {
			range[Team<wide>::warp()][0] = w.lo;
			range[Team<wide>::warp()][1] = w.past;
		}
		__syncthreads();
#pragma unroll
		for (int i = 0; i < wide; i++) {
			w.lo = least(w.lo, range[i][0]);
			w.past = most(w.past, range[i][1]);
		}
		return w;
	}
};

// enter sets the bit of a column, and returns whether it was clear before.
static __device__ __forceinline__ bool enter(i32* bits, i32 col, Window& w) {
	i32 word = col >> 5, bit = (i32)(1u << (col & 31));
	w.lo = least(w.lo, word);
	w.past = most(w.past, word + 1);
	return (atomicOr(bits + word, bit) & bit) == 0;
}

// countDense counts the entries of a row in the bits of a block, which are zero before and
// after.
static __device__ __forceinline__ i64 countDense(Team<wide> team, i32 (*range)[2], i32* bits, Rows<float> a, Rows<float> b, i64 rowB, i64 r) {
	Window window = {1 << 30, 0};  // no words
	i32 mine = 0, all = 0;
	products<wide, i64, false>(a, b, rowB, r, [&](i32 col, float, bool live, int) {
		if (live)
			mine += enter(bits, col, window);
	});
	team.before(mine, all);
	window = Window::of(window, range);
	for (i32 i = window.lo + team.rank(); i < window.past; i += 32 * wide)
		bits[i] = 0;
	__syncthreads();
	return all;
}

// fillDense computes a row in the bits and sums of a block. The bits are zero before and
// after; a sum is undefined until its bit is set.
template <typename V>
static __device__ __forceinline__ void fillDense(Team<wide> team, i32 (*range)[2], i32* bits, V* sums, Rows<V> a, Rows<V> b, i64 rowB, i64 r, Result<V> c) {
	Window window = {1 << 30, 0};  // no words
	products<wide, i64, true>(a, b, rowB, r, [&](i32 col, V p, bool live, int busy) {
		unsigned same = __match_any_sync(0xffffffffu, live ? col : -1);
		bool lead = live && lowest(same) == team.lane();
#pragma unroll 1
		for (int w = 0; w < busy; w++) {
			if (w == team.warp()) {
				V sum = V(-0.0);
				if (lead && !enter(bits, col, window))
					sum = sums[col];
				sum = inOrder(sum, p, same, lead);
				if (lead)
					sums[col] = sum;
			}
			team.sync();
		}
	});
	window = Window::of(window, range);
	i64 to = __ldg(c.ptr + r);
	i32 i = window.lo;
	do {  // at least once, for the sync
		i32 word = i + team.rank(), set = 0, all;
		if (word < window.past) {
			set = bits[word];
			bits[word] = 0;
		}
		i64 at = to + team.before(__popc((unsigned)set), all);
		for (unsigned rest = (unsigned)set; rest; rest &= rest - 1) {
			i32 col = word * 32 + lowest(rest);
			c.idx[at] = col;
			c.val[at] = sums[col];
			at++;
		}
		to += all;
		team.sync();
		i += 32 * wide;
	} while (i < window.past);
}

extern "C" __global__ void __launch_bounds__(32 * warps, 8) msrep_spgemm_count_warp(
    const i64* ptrA, const i32* idxA, const i64* ptrB, const i32* idxB, const i32* row, i32* count, i64 n, i64 firstA,
    i64 rowB, i64 firstB, i64 cols) {
	__shared__ i32 key[warps][countWarp];
	int warp = threadIdx.x >> 5;
	for (i64 i = (i64)blockIdx.x * warps + warp; i < n; i += (i64)gridDim.x * warps) {
		i32 r = __ldg(row + i);
		i64 entries = countHash(Team<1>{nullptr}, key[warp], Rows<float>{ptrA, idxA, nullptr, firstA},
		                        Rows<float>{ptrB, idxB, nullptr, firstB}, rowB, r, cols);
		if ((threadIdx.x & 31) == 0)
			count[r] = (i32)entries;
	}
}

extern "C" __global__ void __launch_bounds__(32 * wide) msrep_spgemm_count_block(
    const i64* ptrA, const i32* idxA, const i64* ptrB, const i32* idxB, const i32* row, i32* count, i64 n, i64 firstA,
    i64 rowB, i64 firstB, i64 cols) {
	__shared__ i32 key[countBlock];
	__shared__ i32 totals[wide];
	for (i64 i = blockIdx.x; i < n; i += gridDim.x) {
		i32 r = __ldg(row + i);
		i64 entries = countHash(Team<wide>{totals}, key, Rows<float>{ptrA, idxA, nullptr, firstA},
		                        Rows<float>{ptrB, idxB, nullptr, firstB}, rowB, r, cols);
		if (threadIdx.x == 0)
			count[r] = (i32)entries;
	}
}

extern "C" __global__ void __launch_bounds__(32 * wide) msrep_spgemm_count_dense(
    const i64* ptrA, const i32* idxA, const i64* ptrB, const i32* idxB, const i32* row, i32* count, i32* bits, i64 n, i64 firstA,
    i64 rowB, i64 firstB, i64 cols) {
	__shared__ i32 totals[wide];
	__shared__ i32 range[wide][2];
	bits += (i64)blockIdx.x * ((cols + 31) / 32);
	for (i64 i = blockIdx.x; i < n; i += gridDim.x) {
		i32 r = __ldg(row + i);
		i64 entries = countDense(Team<wide>{totals}, range, bits, Rows<float>{ptrA, idxA, nullptr, firstA},
		                         Rows<float>{ptrB, idxB, nullptr, firstB}, rowB, r);
		if (threadIdx.x == 0)
			count[r] = (i32)entries;
	}
}

#define MSREP_SPGEMM_FILL(suffix, V)                                                                                     \
	extern "C" __global__ void __launch_bounds__(32 * warps, 8) msrep_spgemm_fill_warp_##suffix(                            \
	    const i64* ptrA, const i32* idxA, const V* valA, const i64* ptrB, const i32* idxB, const V* valB, const i32* row, \
	    const i64* ptr, i32* idx, V* val, i64 n, i64 firstA, i64 rowB, i64 firstB) {                                     \
		alignas(16) __shared__ i32 key[warps][fillWarp];                                                                 \
		__shared__ V sum[warps][fillWarp];                                                                               \
		int warp = threadIdx.x >> 5;                                                                                     \
		for (i64 i = (i64)blockIdx.x * warps + warp; i < n; i += (i64)gridDim.x * warps)                                 \
			fillHash(Team<1>{nullptr}, key[warp], sum[warp], Rows<V>{ptrA, idxA, valA, firstA},                          \
			         Rows<V>{ptrB, idxB, valB, firstB}, rowB, __ldg(row + i), Result<V>{ptr, idx, val});                 \
	}                                                                                                                    \
	extern "C" __global__ void __launch_bounds__(32 * wide) msrep_spgemm_fill_block_##suffix(                            \
	    const i64* ptrA, const i32* idxA, const V* valA, const i64* ptrB, const i32* idxB, const V* valB, const i32* row, \
	    const i64* ptr, i32* idx, V* val, i64 n, i64 firstA, i64 rowB, i64 firstB) {                                     \
		__shared__ i32 key[fillBlock];                                                                                   \
		__shared__ V sum[fillBlock];                                                                                     \
		__shared__ i32 totals[wide];                                                                                     \
		for (i64 i = blockIdx.x; i < n; i += gridDim.x)                                                                  \
			fillHash(Team<wide>{totals}, key, sum, Rows<V>{ptrA, idxA, valA, firstA}, Rows<V>{ptrB, idxB, valB, firstB}, \
			         rowB, __ldg(row + i), Result<V>{ptr, idx, val});                                                    \
	}                                                                                                                    \
	extern "C" __global__ void __launch_bounds__(32 * wide) msrep_spgemm_fill_dense_##suffix(                            \
	    const i64* ptrA, const i32* idxA, const V* valA, const i64* ptrB, const i32* idxB, const V* valB, const i32* row, \
	    const i64* ptr, i32* idx, V* val, i32* bits, V* sums, i64 n, i64 firstA, i64 rowB, i64 firstB, i64 cols) {       \
		__shared__ i32 totals[wide];                                                                                     \
		__shared__ i32 range[wide][2];                                                                                   \
		bits += (i64)blockIdx.x * ((cols + 31) / 32);                                                                    \
		sums += (i64)blockIdx.x * cols;                                                                                  \
		for (i64 i = blockIdx.x; i < n; i += gridDim.x)                                                                  \
			fillDense(Team<wide>{totals}, range, bits, sums, Rows<V>{ptrA, idxA, valA, firstA},                          \
			          Rows<V>{ptrB, idxB, valB, firstB}, rowB, __ldg(row + i), Result<V>{ptr, idx, val});                \
	}
MSREP_SPGEMM_FILL(f64, double)
MSREP_SPGEMM_FILL(f32, float)
