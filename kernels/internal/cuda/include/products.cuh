// Products of entries and x, stored in shared memory for the sums of the rows.
#pragma once

#include "device.cuh"

// inPairs reports whether elements k and k+1 with an even k can be read at once.
template <typename V> static __device__ __forceinline__ bool inPairs(const i32* idx, const V* val) {
	return ((i64)idx % sizeof(Pair<i32>) | (i64)val % sizeof(Pair<V>)) == 0;
}

// Stage writes product[k] = val[k] * x[idx[k]] for low <= k < high, where high is at
// most steps*width. `width` threads share the work; this is thread t. Call fetch, then
// multiply. All loads of idx and val are issued before the first load of x, and all
// loads of x before the first product. Work between the two calls therefore overlaps
// the loads. With pairs, two entries are read and written at a time, from an even k to
// an even k, so idx[low-1] and idx[high] must then be entries.
template <typename V, int width, int steps> struct Stage {
	static constexpr int n = steps / 2;
	const i32* idx;
	const V* val;
	int t, low, high;
	bool pairs;
	Pair<i32> col[n];
	Pair<V> a[n];

	__device__ __forceinline__ Stage(const i32* idx, const V* val, int t, int low, int high, bool pairs)
	    : idx(idx), val(val), t(t), low(low), high(high), pairs(pairs) {}

	__device__ __forceinline__ void fetch() {
		if (!pairs)
			return;
		low -= low & 1;
#pragma unroll
		for (int i = 0; i < n; i++) {
			int k = 2 * (i * width + t);
			col[i] = Pair<i32>{0, 0};
			a[i] = Pair<V>{0, 0};
			if ((unsigned)(k - low) < (unsigned)(high - low)) {
				col[i] = oncePair(idx + k);
				a[i] = oncePair(val + k);
			}
		}
	}

	// Places without an entry get products with x[0] that are never read.
	__device__ __forceinline__ void multiply(const V* x, V* product) const {
		if (!pairs) {
			singly(x, product);
			return;
		}
		if (low >= high)  // x may have no element
			return;
		Pair<V> v[n];
#pragma unroll
		for (int i = 0; i < n; i++)
			v[i] = Pair<V>{__ldg(x + col[i].a), __ldg(x + col[i].b)};
#pragma unroll
		for (int i = 0; i < n; i++)
			*(Pair<V>*)(product + 2 * (i * width + t)) = Pair<V>{a[i].a * v[i].a, a[i].b * v[i].b};
	}

	// singly handles the rare case, with fewer loads at once to save registers.
	__device__ __forceinline__ void singly(const V* x, V* product) const {
		constexpr int few = 4;
#pragma unroll 1
		for (int from = t; from < steps * width; from += few * width) {
			i32 c[few];
			V b[few];
#pragma unroll
			for (int i = 0; i < few; i++) {
				int k = from + i * width;
				c[i] = -1;
				if ((unsigned)(k - low) < (unsigned)(high - low)) {
					c[i] = once(idx + k);
					b[i] = once(val + k);
				}
			}
#pragma unroll
			for (int i = 0; i < few; i++)
				if (c[i] >= 0)
					product[from + i * width] = b[i] * __ldg(x + c[i]);
		}
	}
};
