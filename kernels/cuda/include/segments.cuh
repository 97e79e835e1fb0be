// Values in segments (package cpms): value k is cut into S of 64/S bits, of which
// the first K are read or written.
#pragma once

#include "index.cuh"

typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

template <int S> struct SegmentOf;
template <> struct SegmentOf<2> { typedef u32 type; };
template <> struct SegmentOf<4> { typedef u16 type; };

// Segments is n values. A bank holds 2^shift segments of one kind; with a shift of
// 62 all of one kind lie together.
template <int S, int K> struct Segments {
	typedef typename SegmentOf<S>::type T;
	static constexpr int bits = 64 / S;
	T* mem;
	i64 n, shift;

	// place is the index of segment 0 of value k, step the distance to the next: the
	// last block is only as long as what is left.
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

	// write cuts v towards zero; a NaN of arithmetic stays one.
	__device__ __forceinline__ void write(i64 k, double v) const {
		i64 step, at = place(k, step);
		u64 u = __builtin_bit_cast(u64, v);
#pragma unroll
		for (int s = 0; s < K; s++)
			mem[at + s * step] = (T)(u >> (64 - bits * (s + 1)));
	}
};
