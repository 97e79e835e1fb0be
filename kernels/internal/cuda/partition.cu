// Computes the index arrays of a part on the device that holds the part.
#include "include/index.cuh"

static constexpr int block = 256;

// msrep_local_ptr: dst[j] = min(max(ptr[first+j], s), e) - s for j = 0 ... n.
extern "C" __global__ void __launch_bounds__(block) msrep_local_ptr(const i64* ptr, i64* dst, i64 first, i64 n, i64 s, i64 e) {
	for (i64 j = threadOf(block); j <= n; j += threads(block))
		dst[j] = clamp(__ldg(ptr + first + j), s, e) - s;
}

// msrep_coo_ptr: ptr[j] is the number of entries with major < first+j, j = 0 ... n. The
// majors must not decrease.
extern "C" __global__ void __launch_bounds__(block) msrep_coo_ptr(const i32* major, i64* ptr, i64 nnz, i64 first, i64 n) {
	for (i64 j = threadOf(block); j <= n; j += threads(block)) {
		i64 lo = 0, hi = nnz;
		while (lo < hi) {
			i64 mid = lo + (hi - lo) / 2;
			if (__ldg(major + mid) < first + j)
				lo = mid + 1;
			else
				hi = mid;
		}
		ptr[j] = lo;
	}
}

// msrep_permute: dst[k] = src[perm[k]].
template <typename V> static __device__ __forceinline__ void permute(const V* src, const i64* perm, V* dst, i64 n) {
	for (i64 k = threadOf(block); k < n; k += threads(block))
		dst[k] = __ldg(src + __ldg(perm + k));
}

extern "C" __global__ void __launch_bounds__(block) msrep_permute_f64(const double* src, const i64* perm, double* dst, i64 n) {
	permute<double>(src, perm, dst, n);
}
extern "C" __global__ void __launch_bounds__(block) msrep_permute_f32(const float* src, const i64* perm, float* dst, i64 n) {
	permute<float>(src, perm, dst, n);
}
