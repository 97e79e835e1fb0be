// Triangular solves without barriers between levels:
//
//   x[r] = (alpha*b[r] - sum over k of val[k]*x[idx[k]]) / diag[r]
//
// after Liu, Li, Hogg, Duff, Vinter (Euro-Par 2016) and, for short rows, Su et al.
// (CapelliniSpTRSV, ICPP 2020). Package leveled orders the rows by levels and numbers
// them by their places in this order. A row at place p depends on earlier places only.
//
// A task is a run of up to 32 places. A warp solves a task; all its rows get the same
// number of lanes, the most that fit. Each block takes the next `warps` tasks by an
// atomic ticket. All tasks that a warp can wait for thus have a warp that runs already,
// in whatever order the GPU starts blocks: nothing waits for ever.
//
// The result of place p goes to w[p], which holds `waiting` until then. `waiting` is a
// NaN that no result is, because a NaN result becomes the quiet NaN without a payload.
// A word of w is its own flag, so its readers need no fence. The results of the block's
// own places are also in shared memory, which takes less time than the L2 cache.
//
// Lane i of n adds the entries i, i+n, i+2n, ... of its row in order. The sums of the
// lanes are added as a tree. The result has the same bits every time.
//
// A warp that waits for more than `polls` rounds in which none of its lanes advances
// gives up: it puts the row into failed[0], plus 1, and ends its rows with NaN, so that
// all others end as well. This happens only if w or the matrix is overwritten. polls is
// at most 2^31-1.
#include "include/index.cuh"
#include "include/scalar.cuh"
#include "include/strong.cuh"

static constexpr int block = 256;
static constexpr int warps = block / 32;
static constexpr int ahead = 4;  // entries that a lane loads at once

static __device__ __forceinline__ double waitingOf(double) { return __builtin_bit_cast(double, -1ll); }
static __device__ __forceinline__ float waitingOf(float) { return __builtin_bit_cast(float, -1); }
static __device__ __forceinline__ bool isWaiting(double v) { return __builtin_bit_cast(i64, v) == -1; }
static __device__ __forceinline__ bool isWaiting(float v) { return __builtin_bit_cast(i32, v) == -1; }

// divide is a division that compilers do not execute ahead of its condition.
static __device__ __forceinline__ double divide(double a, double b) {
	double q;
	asm volatile("div.rn.f64 %0, %1, %2;" : "=d"(q) : "d"(a), "d"(b));
	return q;
}
static __device__ __forceinline__ float divide(float a, float b) {
	float q;
	asm volatile("div.rn.f32 %0, %1, %2;" : "=f"(q) : "f"(a), "f"(b));
	return q;
}

// quotient returns s/d, given inv = 1/d. Others wait for it, so it takes only three
// operations after s is known.
template <typename V> static __device__ __forceinline__ V quotient(V s, V d, V inv) {
	V q = s * inv;
	q = fma(fma(-q, d, s), inv, q);
	if (!(q - q == V(0)))  // 1/d may have overflowed
		q = divide(s, d);
	return q;
}

// Triangle holds the matrix and the vectors. Element r of column j of b is
// b[r*strideB + j]. w has K elements for each place.
template <typename V, int K> struct Triangle {
	const i64* ptr;
	const i32* idx;
	const V *val, *diag;
	const i32 *perm, *task;
	const V* b;
	V *x, *w;
	i32* failed;
	i64 cols, strideB, strideX, polls;
	V alpha;

	// run solves one task. near holds the results of the places from `first` on. All
	// lanes of the warp must call it.
	__device__ __forceinline__ void run(V (*near)[K], i32 first, i64 t) const {
		int lane = threadIdx.x & 31;
		i32 from = __ldg(task + t), rows = __ldg(task + t + 1) - from;
		int log = 5;
		while (rows << log > 32)
			log--;
		int lanes = 1 << log, part = lane & (lanes - 1), row = lane >> log;
		unsigned group = (lanes == 32 ? 0xffffffffu : (1u << lanes) - 1) << (row * lanes);
		bool done = row >= rows;
		i64 p = from + row, k = 0;
		i32 r = 0, left = 0;  // entries from k to the end of the row
		V d = V(1), inv = V(1), sum[K];
#pragma unroll
		for (int j = 0; j < K; j++)
			sum[j] = V(0);
		if (!done) {
			k = __ldg(ptr + p) + part;
			left = (i32)(__ldg(ptr + p + 1) - k);
			r = __ldg(perm + p);
			if (diag) {
				d = __ldg(diag + p);
				inv = V(1) / d;
			}
			if (r >= 0 && part == 0) {
#pragma unroll
				for (int j = 0; j < K; j++)
					if (j < cols)
						sum[j] = alpha * b[r * strideB + j];
			}
		}
		i32 col[ahead];
		V a[ahead];
		int at = 0;  // the next of the loaded entries to add
		bool fresh = true;
		i32 idle = 0;  // rounds in which no lane advanced
#pragma unroll 1
		while (ballot(!done)) {
			bool moved = false;
			if (!done && left > 0) {
				if (fresh) {
#pragma unroll
					for (int u = 0; u < ahead; u++) {
						col[u] = -1;
						a[u] = V(0);
						if (u * lanes < left) {
							col[u] = once(idx + k + u * lanes);
							a[u] = once(val + k + u * lanes);
						}
					}
					at = 0;
					fresh = false;
				}
				V v[ahead][K];
#pragma unroll
				for (int u = 0; u < ahead; u++) {
					const V* from = col[u] - first < 0 ? w + (i64)col[u] * K : near[col[u] - first];
#pragma unroll
					for (int j = 0; j < K; j++) {
						v[u][j] = waitingOf(V(0));
						if (u >= at && col[u] >= 0)
							v[u][j] = readStrong(from + j);
					}
				}
#pragma unroll
				for (int u = 0; u < ahead; u++) {
					bool known = u == at;
#pragma unroll
					for (int j = 0; j < K; j++)
						known = known && !isWaiting(v[u][j]);
					if (known) {
#pragma unroll
						for (int j = 0; j < K; j++)
							sum[j] = fma(-a[u], v[u][j], sum[j]);
						at++;
						moved = true;
					}
				}
				if (at * lanes >= left || at == ahead) {
					k += at * lanes;
					left -= at * lanes;
					fresh = true;
				}
			}
			unsigned added = ballot(left <= 0);  // lanes without further entries
			bool ended = !done && (added & group) == group;
			if (ballot(ended)) {
				V total[K];
#pragma unroll
				for (int j = 0; j < K; j++)
					total[j] = sum[j];
				for (int i = lanes >> 1; i > 0; i >>= 1) {
#pragma unroll
					for (int j = 0; j < K; j++)
						total[j] += shflXor(total[j], i);
				}
				if (ended) {
					if (part == 0) {
#pragma unroll
						for (int j = 0; j < K; j++)
							total[j] = quiet(quotient(total[j], d, inv));
						finish(near[p - first], p, r, total);
					}
					done = true;
				}
			}
			idle = ballot(moved || ended) ? 0 : idle + 1;
			if (idle > (i32)polls && !done) {
				if (part == 0) {
					raise(failed, (r < 0 ? -1 - r : r) + 1);
#pragma unroll
					for (int j = 0; j < K; j++)
						sum[j] = quiet(waitingOf(V(0)));
					finish(near[p - first], p, r, sum);
				}
				done = true;
			}
			__syncwarp();
		}
	}

	// finish writes the results of place p.
	__device__ __forceinline__ void finish(V* near, i64 p, i32 r, const V (&v)[K]) const {
#pragma unroll
		for (int j = 0; j < K; j++) {
			writeStrong(near + j, v[j]);
			writeStrong(w + p * K + j, v[j]);
		}
		if (r >= 0) {
#pragma unroll
			for (int j = 0; j < K; j++)
				if (j < cols)
					x[r * strideX + j] = v[j];
		}
	}

	__device__ __forceinline__ void all(i32* ticket, i64 tasks) const {
		__shared__ V near[block][K];
		__shared__ i32 taken;
		for (;;) {
			__syncthreads();
			if (threadIdx.x == 0)
				taken = takeTicket(ticket);
#pragma unroll
			for (int j = 0; j < K; j++)
				near[threadIdx.x][j] = waitingOf(V(0));
			__syncthreads();
			i64 t = (i64)taken * warps;
			if (t >= tasks)
				return;
			i32 first = __ldg(task + t);
			if (t + (threadIdx.x >> 5) < tasks)
				run(near, first, t + (threadIdx.x >> 5));
		}
	}
};

template <typename V> static __device__ __forceinline__ void start(V* w, i32* ticket, i64 n) {
	for (i64 i = threadOf(block); i < n; i += threads(block))
		w[i] = waitingOf(V(0));
	if (threadOf(block) == 0)
		*ticket = 0;
}

#define MSREP_TRIANGULAR(suffix, V)                                                                                      \
	extern "C" __global__ void __launch_bounds__(block) msrep_triangular_start_##suffix(V* w, i32* ticket, i64 n) {      \
		start<V>(w, ticket, n);                                                                                          \
	}                                                                                                                    \
	extern "C" __global__ void __launch_bounds__(block, 4) msrep_triangular_##suffix(                                    \
	    const i64* ptr, const i32* idx, const V* val, const V* diag, const i32* perm, const i32* task, const V* b, V* x, V* w, \
	    i32* ticket, i32* failed, i64 tasks, i64 strideB, i64 strideX, i64 polls, V alpha) {                             \
		Triangle<V, 1>{ptr, idx, val, diag, perm, task, b, x, w, failed, 1, strideB, strideX, polls, alpha}.all(ticket, tasks); \
	}                                                                                                                    \
	extern "C" __global__ void __launch_bounds__(block) msrep_triangular_many_##suffix(                                  \
	    const i64* ptr, const i32* idx, const V* val, const V* diag, const i32* perm, const i32* task, const V* b, V* x, V* w, \
	    i32* ticket, i32* failed, i64 tasks, i64 cols, i64 strideB, i64 strideX, i64 polls, V alpha) {                   \
		Triangle<V, 4>{ptr, idx, val, diag, perm, task, b, x, w, failed, cols, strideB, strideX, polls, alpha}.all(ticket, tasks); \
	}
MSREP_TRIANGULAR(f64, double)
MSREP_TRIANGULAR(f32, float)
