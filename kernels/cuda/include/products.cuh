// Products of entries and x, left in shared memory for the sums of the rows.
#pragma once

#include "device.cuh"

// inPairs says whether neighbours k, k+1 with an even k can be read at once.
template <typename V> static __device__ __forceinline__ bool inPairs(const i32* idx, const V* val) {
	return ((i64)idx % sizeof(Pair<i32>) | (i64)val % sizeof(Pair<V>)) == 0;
}

// stage writes product[k] = val[k] * x[idx[k]] for low <= k < high, high at most
// steps*width, by `width` threads of which this is number t. All loads of idx and
// val are under way before the first of x waits for one of them. With pairs, the
// entries are read and written two at a time, and k runs from an even number to an
// even number, so idx[low-1] and idx[high] must be entries then.
template <typename V, int width, int steps>
static __device__ __forceinline__ void stage(const i32* idx, const V* val, const V* x, V* product, int t, int low, int high,
                                             bool pairs) {
	if (pairs) {
		low -= low & 1;
		Pair<i32> col[steps / 2];
		Pair<V> a[steps / 2];
#pragma unroll
		for (int i = 0; i < steps / 2; i++) {
			int k = 2 * (i * width + t);
			col[i].a = -1;
			if ((unsigned)(k - low) < (unsigned)(high - low)) {
				col[i] = oncePair(idx + k);
				a[i] = oncePair(val + k);
			}
		}
#pragma unroll
		for (int i = 0; i < steps / 2; i++)
			if (col[i].a >= 0)
				*(Pair<V>*)(product + 2 * (i * width + t)) = Pair<V>{a[i].a * __ldg(x + col[i].a), a[i].b * __ldg(x + col[i].b)};
		return;
	}
	// The rare way: fewer loads at once, for the sake of registers.
	constexpr int few = 4;
#pragma unroll 1
	for (int from = t; from < steps * width; from += few * width) {
		i32 col[few];
		V a[few];
#pragma unroll
		for (int i = 0; i < few; i++) {
			int k = from + i * width;
			col[i] = -1;
			if ((unsigned)(k - low) < (unsigned)(high - low)) {
				col[i] = once(idx + k);
				a[i] = once(val + k);
			}
		}
#pragma unroll
		for (int i = 0; i < few; i++)
			if (col[i] >= 0)
				product[from + i * width] = a[i] * __ldg(x + col[i]);
	}
}
