// Results of rows in a permuted order.
#pragma once

#include "index.cuh"

// finish writes the result of place i, which holds row perm[i], or row i without perm.
// The result of a first row that an earlier part owns (skip = 1) goes to the carry,
// without beta.
template <typename V>
static __device__ __forceinline__ void finish(const i32* perm, V* y, V* carry, i64 i, i64 skip, V alpha, V sum, V beta) {
	i64 r = perm ? __ldg(perm + i) : i;
	if (r < skip)
		*carry = alpha * sum;
	else
		store(y + (r - skip), alpha, sum, beta);
}
