// Warps that work together.
#pragma once

#include "device.cuh"

// Team is the W warps that compute something together. All of them must call its functions.
template <int W> struct Team {
	i32* totals;  // W words of shared memory, unused for one warp

	static __device__ __forceinline__ int lane() { return threadIdx.x & 31; }
	static __device__ __forceinline__ int warp() { return W == 1 ? 0 : threadIdx.x >> 5; }
	static __device__ __forceinline__ int rank() { return W == 1 ? lane() : threadIdx.x; }
	static __device__ __forceinline__ void sync() {
		if (W == 1)
			__syncwarp();
		else
			__syncthreads();
	}

	// before returns the sum of v over lower ranks, and sets total to the sum over all. It
	// has a sync inside; between two calls there must be another one.
	__device__ __forceinline__ i32 before(i32 v, i32& total) const {
		i32 sum = v;
#pragma unroll
		for (int d = 1; d < 32; d *= 2) {
			i32 other = shflUp(sum, d);
			if (lane() >= d)
				sum += other;
		}
		total = shfl(sum, 31);
		if (W > 1 && lane() == 0)
			totals[warp()] = total;
		sync();
		if (W > 1) {
			total = 0;
			i32 earlier = 0;
#pragma unroll
			for (int w = 0; w < W; w++) {
				if (w == warp())
					earlier = total;
				total += totals[w];
			}
			sum += earlier;
		}
		return sum - v;
	}
};
