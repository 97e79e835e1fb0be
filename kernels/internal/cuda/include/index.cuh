// Index arithmetic that several kernels share.
#pragma once

#include "device.cuh"

template <typename T> static __device__ __forceinline__ T least(T a, T b) { return b < a ? b : a; }
template <typename T> static __device__ __forceinline__ T most(T a, T b) { return a < b ? b : a; }

// clamp returns v limited to [lo, hi].
static __device__ __forceinline__ i64 clamp(i64 v, i64 lo, i64 hi) { return least(most(v, lo), hi); }

// threadOf returns the index of this thread in the grid, threads the number of threads.
static __device__ __forceinline__ i64 threadOf(int block) { return (i64)blockIdx.x * block + threadIdx.x; }
static __device__ __forceinline__ i64 threads(int block) { return (i64)gridDim.x * block; }

// share returns the range [first, past) of n items for one of several takers. Each
// range has equally many items, or one more. n and takers are at most 2^31. 32-bit
// division is much faster than 64-bit division.
struct Share {
	i64 first, past;
};
static __device__ __forceinline__ Share share(i64 n, i64 taker, i64 takers) {
	i64 each = (unsigned)n / (unsigned)takers, more = n - each * takers, first = taker * each + least(taker, more);
	return Share{first, first + each + (taker < more ? 1 : 0)};
}

// majorOf returns the last r in [lo, hi] with ptr[r] <= k, or lo.
static __device__ __forceinline__ i64 majorOf(const i64* ptr, i64 lo, i64 hi, i64 k) {
	while (lo < hi) {
		i64 mid = lo + (hi - lo + 1) / 2;
		if (__ldg(ptr + mid) <= k)
			lo = mid;
		else
			hi = mid - 1;
	}
	return lo;
}

// majorNear is majorOf for a k whose major is probably lo or close to lo.
static __device__ __forceinline__ i64 majorNear(const i64* ptr, i64 lo, i64 hi, i64 k) {
	i64 by = 32;
	while (lo + by < hi && __ldg(ptr + lo + by) <= k) {
		lo += by;
		by *= 2;
	}
	return majorOf(ptr, lo, least(lo + by, hi), k);
}

// store computes y = alpha*sum + beta*y for one element; beta = 0 does not read y.
template <typename V> static __device__ __forceinline__ void store(V* y, V alpha, V sum, V beta) {
	V v = alpha * sum;
	if (beta != V(0))
		v += beta * *y;
	*y = v;
}

// target returns where the result of row r of a part goes: to the carry for a first row
// that an earlier part owns (skip = 1), to y for the others.
template <typename V> static __device__ __forceinline__ V* target(V* y, V* carry, i64 skip, i64 r) {
	return r < skip ? carry : y + (r - skip);
}
