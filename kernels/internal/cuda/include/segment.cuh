// Sums of consecutive values with equal keys, in an order that depends on the keys
// alone.
#pragma once

#include "device.cuh"

// warpSegments returns the sum of v over this lane and those before it with the same
// key. Keys must not decrease from lane to lane.
template <typename V> static __device__ __forceinline__ V warpSegments(i32 key, V v) {
	int lane = threadIdx.x & 31;
#pragma unroll
	for (int d = 1; d < 32; d *= 2) {
		i32 k = shflUp(key, d);
		V u = shflUp(v, d);
		if (lane >= d && k == key)
			v += u;
	}
	return v;
}

// BlockSegments is warpSegments for a whole block.
template <typename V, int block> struct BlockSegments {
	static constexpr int warps = block / 32;
	i32 firstKey[warps], lastKey[warps];
	V lastSum[warps];

	// sum contains a barrier: every thread of the block must call it. tail is true if
	// the next thread has another key, and for the last thread.
	__device__ __forceinline__ V sum(i32 key, V v, bool& tail) {
		int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
		v = warpSegments(key, v);
		i32 next = shflDown(key, 1);
		if (lane == 0)
			firstKey[warp] = key;
		if (lane == 31) {
			lastKey[warp] = key;
			lastSum[warp] = v;
		}
		__syncthreads();
		V before = V(0);
		for (int w = 0; w < warp; w++)
			if (lastKey[w] == key)
				before += lastSum[w];
		tail = lane < 31 ? next != key : warp == warps - 1 || firstKey[warp + 1] != key;
		return before + v;
	}
};
