// Sums that blocks of one launch pass on, in words that are 0 before and after.
#pragma once

#include "device.cuh"

// Letter is a word for one value: 0 until somebody posts, and again when it was taken. A
// value whose bits would read as 0 is changed to another NaN.
template <typename V> struct Letter;
template <> struct Letter<float> {
	typedef i32 word;
	static constexpr word key = 0x7fa5a5a5;  // a NaN that no arithmetic gives
};
template <> struct Letter<double> {
	typedef i64 word;
	static constexpr word key = 0x7ff5a5a5a5a5a5a5;
};

template <typename V> static __device__ __forceinline__ void post(typename Letter<V>::word* p, V v) {
	typedef typename Letter<V>::word word;
	word w = __builtin_bit_cast(word, v) ^ Letter<V>::key;
	atomicExch(p, w == 0 ? (word)1 : w);
}

// take waits for the value.
template <typename V> static __device__ __forceinline__ V take(typename Letter<V>::word* p) {
	typename Letter<V>::word w;
	do
		w = atomicExch(p, 0);
	while (w == 0);
	return __builtin_bit_cast(V, w ^ Letter<V>::key);
}
