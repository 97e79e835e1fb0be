// The sum of a block.
#pragma once

#include "device.cuh"

// blockSum returns the sum of v over the block, in thread 0. Every thread must call it.
template <int block> static __device__ __forceinline__ double blockSum(double v) {
	__shared__ double sums[block / 32];
	int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
#pragma unroll
	for (int d = 16; d > 0; d /= 2)
		v += shflXor(v, d);
	if (lane == 0)
		sums[warp] = v;
	__syncthreads();
	v = lane < block / 32 ? sums[lane] : 0;
#pragma unroll
	for (int d = block / 64; d > 0; d /= 2)
		v += shflXor(v, d);
	return v;
}
