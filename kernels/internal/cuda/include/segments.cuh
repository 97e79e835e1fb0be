// Values in segments (package cpms): each value is cut into S segments of 64/S bits.
// The first ones are read or written. Their number is a compile-time constant for the
// values of a matrix (Segments), and the same for all threads for a vector (Vector).
#pragma once

#include "index.cuh"

typedef unsigned int u32;
typedef unsigned long long u64;

template <int S> struct SegmentOf;
template <> struct SegmentOf<2> { typedef u32 type; };
template <> struct SegmentOf<4> { typedef u16 type; };

// Segments is an array of n values. A bank holds 2^shift segments of one kind; a shift
// of 62 puts all segments of one kind together.
template <int S, int K> struct Segments {
	typedef typename SegmentOf<S>::type T;
	static constexpr int bits = 64 / S;
	T* mem;
	i64 n, shift;

	// place returns the index of segment 0 of value k. step is the distance to the
	// value's next segment, which is shorter in the last group of banks.
	__device__ __forceinline__ i64 place(i64 k, i64& step) const {
		i64 first = k >> shift << shift;
		step = least((i64)1 << shift, n - first);
		return first * S + (k - first);
	}

	__device__ __forceinline__ double read(i64 k) const {
		i64 step, at = place(k, step);
		u64 v = 0;
#pragma unroll
		for (int s = 0; s < K; s++)
			v |= (u64)mem[at + s * step] << (64 - bits * (s + 1));
		return __builtin_bit_cast(double, v);
	}

	// write truncates v towards zero; a NaN from arithmetic stays a NaN.
	__device__ __forceinline__ void write(i64 k, double v) const {
		i64 step, at = place(k, step);
		u64 u = __builtin_bit_cast(u64, v);
#pragma unroll
		for (int s = 0; s < K; s++)
			mem[at + s * step] = (T)(u >> (64 - bits * (s + 1)));
	}
};

// Without segments, all values are 1 and have no memory.
template <int S> struct Segments<S, 0> {
	typedef typename SegmentOf<S>::type T;
	T* mem;
	i64 n, shift;
	__device__ __forceinline__ double read(i64) const { return 1; }
};

// Vector is an array of n values whose first k segments are read or written; k = 0
// means plain float64. All segments of one kind are together, as in Segments with a
// shift of 62.
template <int S> struct Vector {
	typedef typename SegmentOf<S>::type T;
	static constexpr int bits = 64 / S;
	void* mem;
	i64 n, k;

	__device__ __forceinline__ double read(i64 i) const {
		double v[1];
		i32 at[1] = {(i32)i};
		read(at, v);
		return v[0];
	}

	// read returns several elements at once: all loads are issued before the first one
	// is needed.
	template <int m> __device__ __forceinline__ void read(const i32 (&at)[m], double (&v)[m]) const {
		if (k == 0) {
#pragma unroll
			for (int i = 0; i < m; i++)
				v[i] = ((const double*)mem)[at[i]];
			return;
		}
		T part[m][S];
#pragma unroll
		for (int i = 0; i < m; i++)
#pragma unroll
			for (int s = 0; s < S; s++)
				part[i][s] = s < k ? ((const T*)mem)[at[i] + s * n] : T(0);
#pragma unroll
		for (int i = 0; i < m; i++) {
			u64 u = 0;
#pragma unroll
			for (int s = 0; s < S; s++)
				u |= (u64)part[i][s] << (64 - bits * (s + 1));
			v[i] = __builtin_bit_cast(double, u);
		}
	}

	// write truncates v towards zero and returns what it wrote; a NaN from arithmetic
	// stays a NaN.
	__device__ __forceinline__ double write(i64 i, double v) const {
		if (k == 0) {
			((double*)mem)[i] = v;
			return v;
		}
		T* at = (T*)mem + i;
		u64 u = __builtin_bit_cast(u64, v), kept = 0;
#pragma unroll
		for (int s = 0; s < S; s++)
			if (s < k) {
				T part = (T)(u >> (64 - bits * (s + 1)));
				at[s * n] = part;
				kept |= (u64)part << (64 - bits * (s + 1));
			}
		return __builtin_bit_cast(double, kept);
	}
};
