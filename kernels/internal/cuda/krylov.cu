// Operations of Krylov methods: each reads the vectors of several formulas once, and
// leaves sums for the host.
//
//   msrep_project  sum j of v_j[i]*w[i], j = 0 ... count-1
//   msrep_combine  w = w + h0*v_0 + ... (count terms), sum of w[i]^2
//   msrep_cg_step     x = x + a*p, r = r - a*q, sum of r[i]^2
//   msrep_cg_direction    p = z + b*p
//   msrep_bicgstab_direction     p = r + b*(p - w*v)
//   msrep_bicgstab_step   x = x + a*p + w*s, r = r - w*t, sums of r[i]^2 and c[i]*r[i]
//   msrep_minres_step     x = x + e*u, w = a*z + b*u + c*w
//   msrep_lsmr_step       w = h - a*w, x = x + b*w, h = c*v - d*h
//   msrep_chebyshev_start d = c*m*b, x = d, r = b
//   msrep_chebyshev_step  d = a*d + c*m*r, x = x + d
//   msrep_misfit   sum of (y[i] - a*x[i])^2
//   msrep_multiply z = d*r, element by element
//   msrep_totals   out[j] = sum of partial[j*parts ... (j+1)*parts-1], one block for each j
//   msrep_cg_alpha, msrep_cg_beta  the scalars of CG, as kernels/cgscalars.go states them
//
// Block b writes its part of sum j to partial[j*parts + b]. Sums are in float64 for
// both types, in an order that depends on n and the grid alone. partial = 0 means no
// sums. at is the address of the numbers of a formula in device memory; at = 0 means that
// they are parameters.
#include "include/index.cuh"
#include "include/scalar.cuh"
#include "include/sum.cuh"

static constexpr int block = 256;

// leave writes a sum of this block. If the grid is smaller than parts, it also writes
// the zeros of the missing blocks. Every thread must call it.
static __device__ __forceinline__ void leave(double sum, double* partial, i64 parts) {
	__syncthreads(); // the previous sum may still be read
	sum = blockSum<block>(sum);
	for (i64 b = blockIdx.x; b < parts; b += gridDim.x)
		if (threadIdx.x == 0)
			partial[b] = b == blockIdx.x ? sum : 0;
}

// number returns number k of a formula.
template <typename V> static __device__ __forceinline__ V number(const double* at, int k, V given) {
	return at ? (V)__ldg(at + k) : given;
}

template <typename V>
static __device__ __forceinline__ void project(const V* v0, const V* v1, const V* v2, const V* v3, const V* w,
                                               double* partial, i64 count, i64 n, i64 parts) {
	double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
	for (i64 i = threadOf(block); i < n; i += threads(block)) {
		double e = __ldg(w + i);
		s0 += (double)__ldg(v0 + i) * e;
		if (count > 1)
			s1 += (double)__ldg(v1 + i) * e;
		if (count > 2)
			s2 += (double)__ldg(v2 + i) * e;
		if (count > 3)
			s3 += (double)__ldg(v3 + i) * e;
	}
	leave(s0, partial, parts);
	if (count > 1)
		leave(s1, partial + parts, parts);
	if (count > 2)
		leave(s2, partial + 2 * parts, parts);
	if (count > 3)
		leave(s3, partial + 3 * parts, parts);
}

template <typename V>
static __device__ __forceinline__ void combine(const V* v0, const V* v1, const V* v2, const V* v3, V* w, double* partial,
                                               i64 count, i64 n, i64 parts, V h0, V h1, V h2, V h3) {
	double sum = 0;
	for (i64 i = threadOf(block); i < n; i += threads(block)) {
		V e = w[i] + h0 * __ldg(v0 + i);
		if (count > 1)
			e += h1 * __ldg(v1 + i);
		if (count > 2)
			e += h2 * __ldg(v2 + i);
		if (count > 3)
			e += h3 * __ldg(v3 + i);
		w[i] = e;
		sum += (double)e * (double)e;
	}
	if (partial)
		leave(sum, partial, parts);
}

template <typename V>
static __device__ __forceinline__ void cg_step(const V* p, const V* q, V* x, V* r, double* partial, i64 n, i64 parts, V a) {
	double sum = 0;
	for (i64 i = threadOf(block); i < n; i += threads(block)) {
		V e = r[i];
		if (a != V(0)) {
			x[i] += a * __ldg(p + i);
			e -= a * __ldg(q + i);
			r[i] = e;
		}
		sum += (double)e * (double)e;
	}
	leave(sum, partial, parts);
}

template <typename V> static __device__ __forceinline__ void cg_direction(const V* z, V* p, i64 n, V b) {
	for (i64 i = threadOf(block); i < n; i += threads(block))
		p[i] = b != V(0) ? __ldg(z + i) + b * p[i] : __ldg(z + i);
}

template <typename V> static __device__ __forceinline__ void bicgstab_direction(const V* r, const V* v, V* p, i64 n, V b, V w) {
	for (i64 i = threadOf(block); i < n; i += threads(block))
		p[i] = __ldg(r + i) + b * (p[i] - w * __ldg(v + i));
}

template <typename V>
static __device__ __forceinline__ void bicgstab_step(const V* p, const V* s, const V* t, const V* c, V* x, V* r, double* partial,
                                              i64 n, i64 parts, V a, V w) {
	double rr = 0, cr = 0;
	for (i64 i = threadOf(block); i < n; i += threads(block)) {
		V old = r[i]; // s may be r
		x[i] += a * __ldg(p + i) + w * (s == r ? old : __ldg(s + i));
		V e = old - w * __ldg(t + i);
		r[i] = e;
		rr += (double)e * (double)e;
		cr += (double)__ldg(c + i) * (double)e;
	}
	leave(rr, partial, parts);
	leave(cr, partial + parts, parts);
}

template <typename V>
static __device__ __forceinline__ void minres_step(const V* z, const V* u, V* w, V* x, i64 n, V a, V b, V c, V e) {
	for (i64 i = threadOf(block); i < n; i += threads(block)) {
		V old = __ldg(u + i);
		x[i] += e * old;
		w[i] = a * __ldg(z + i) + b * old + c * w[i];
	}
}

template <typename V>
static __device__ __forceinline__ void lsmr_step(const V* v, V* w, V* x, V* h, i64 n, V a, V b, V c, V d) {
	for (i64 i = threadOf(block); i < n; i += threads(block)) {
		V old = h[i];
		V next = old - a * w[i];
		w[i] = next;
		x[i] += b * next;
		h[i] = c * __ldg(v + i) - d * old;
	}
}

template <typename V>
static __device__ __forceinline__ void chebyshev_start(const V* m, const V* b, V* d, V* x, V* r, i64 n, V c) {
	for (i64 i = threadOf(block); i < n; i += threads(block)) {
		V e = __ldg(b + i);
		r[i] = e;
		e = c * (__ldg(m + i) * e);
		d[i] = e;
		x[i] = e;
	}
}

template <typename V>
static __device__ __forceinline__ void chebyshev_step(const V* m, const V* r, V* d, V* x, i64 n, V a, V c) {
	for (i64 i = threadOf(block); i < n; i += threads(block)) {
		V e = a * d[i] + c * (__ldg(m + i) * __ldg(r + i));
		d[i] = e;
		x[i] += e;
	}
}

template <typename V>
static __device__ __forceinline__ void misfit(const V* y, const V* x, double* partial, i64 n, i64 parts, V a) {
	double sum = 0;
	for (i64 i = threadOf(block); i < n; i += threads(block)) {
		double d = __ldg(y + i) - a * __ldg(x + i);
		sum += d * d;
	}
	leave(sum, partial, parts);
}

template <typename V> static __device__ __forceinline__ void multiply(const V* d, const V* r, V* z, i64 n) {
	for (i64 i = threadOf(block); i < n; i += threads(block))
		z[i] = __ldg(d + i) * __ldg(r + i);
}

extern "C" __global__ void __launch_bounds__(block) msrep_totals(const double* partial, double* out, i64 parts, i64 count) {
	for (i64 j = blockIdx.x; j < count; j += gridDim.x) {
		double sum = 0;
		for (i64 i = threadIdx.x; i < parts; i += block)
			sum += __ldg(partial + j * parts + i);
		__syncthreads(); // the previous sum may still be read
		sum = blockSum<block>(sum);
		if (threadIdx.x == 0)
			out[j] = sum;
	}
}

// The state of CG on a device.
enum { stateAlpha, stateBeta, stateRZ, statePQ, stateStopped, stateSteps, residuals };

static __device__ __forceinline__ bool positive(double v) { return v > 0 && v <= largest; }

extern "C" __global__ void __launch_bounds__(32) msrep_cg_alpha(const double* pq, double* state) {
	if (threadOf(32) != 0)
		return;
	double alpha = 0;
	if (state[stateStopped] == 0) {
		double rz = state[stateRZ], d = *pq;
		state[statePQ] = d;
		if (positive(rz) && positive(d))
			alpha = rz / d;
		else
			state[stateStopped] = 1;
	}
	state[stateAlpha] = alpha;
}

extern "C" __global__ void __launch_bounds__(32)
	msrep_cg_beta(const double* sums, double* state, i64 count, i64 room, double norm, double tol) {
	if (threadOf(32) != 0)
		return;
	double beta = 0;
	if (state[stateStopped] == 0) {
		double rr = sums[0], rz = sums[count - 1], relative = sqrt(rr) / norm, steps = state[stateSteps];
		state[residuals + (i64)steps % room] = rr;
		state[stateSteps] = steps + 1;
		if (relative > tol && relative <= largest)
			beta = rz / state[stateRZ];
		else
			state[stateStopped] = 1;
		state[stateRZ] = rz;
	}
	state[stateBeta] = beta;
}

#define MSREP_KRYLOV(suffix, V)                                                                                        \
	extern "C" __global__ void __launch_bounds__(block)                                                                \
		msrep_project_##suffix(const V* v0, const V* v1, const V* v2, const V* v3, const V* w, double* partial,        \
	                           i64 count, i64 n, i64 parts) {                                                          \
		project<V>(v0, v1, v2, v3, w, partial, count, n, parts);                                                       \
	}                                                                                                                  \
	extern "C" __global__ void __launch_bounds__(block)                                                                \
		msrep_combine_##suffix(const V* v0, const V* v1, const V* v2, const V* v3, V* w, double* partial, i64 count,   \
	                           i64 n, i64 parts, V h0, V h1, V h2, V h3) {                                             \
		combine<V>(v0, v1, v2, v3, w, partial, count, n, parts, h0, h1, h2, h3);                                       \
	}                                                                                                                  \
	extern "C" __global__ void __launch_bounds__(block)                                                                \
		msrep_cg_step_##suffix(const V* p, const V* q, V* x, V* r, double* partial, i64 n, i64 parts, V a, const double* at) { \
		cg_step<V>(p, q, x, r, partial, n, parts, number(at, 0, a));                                                    \
	}                                                                                                                  \
	extern "C" __global__ void __launch_bounds__(block)                                                                \
		msrep_cg_direction_##suffix(const V* z, V* p, i64 n, V b, const double* at) {                                   \
		cg_direction<V>(z, p, n, number(at, 0, b));                                                                     \
	}                                                                                                                  \
	extern "C" __global__ void __launch_bounds__(block)                                                                \
		msrep_bicgstab_direction_##suffix(const V* r, const V* v, V* p, i64 n, V b, V w, const double* at) {            \
		bicgstab_direction<V>(r, v, p, n, number(at, 0, b), number(at, 1, w));                                          \
	}                                                                                                                  \
	extern "C" __global__ void __launch_bounds__(block)                                                                \
		msrep_bicgstab_step_##suffix(const V* p, const V* s, const V* t, const V* c, V* x, V* r, double* partial, i64 n,      \
	                          i64 parts, V a, V w, const double* at) {                                                  \
		bicgstab_step<V>(p, s, t, c, x, r, partial, n, parts, number(at, 0, a), number(at, 1, w));                      \
	}                                                                                                                  \
	extern "C" __global__ void __launch_bounds__(block)                                                                \
		msrep_minres_step_##suffix(const V* z, const V* u, V* w, V* x, i64 n, V a, V b, V c, V e, const double* at) {   \
		minres_step<V>(z, u, w, x, n, number(at, 0, a), number(at, 1, b), number(at, 2, c), number(at, 3, e));          \
	}                                                                                                                  \
	extern "C" __global__ void __launch_bounds__(block)                                                                \
		msrep_lsmr_step_##suffix(const V* v, V* w, V* x, V* h, i64 n, V a, V b, V c, V d, const double* at) {           \
		lsmr_step<V>(v, w, x, h, n, number(at, 0, a), number(at, 1, b), number(at, 2, c), number(at, 3, d));            \
	}                                                                                                                  \
	extern "C" __global__ void __launch_bounds__(block)                                                                \
		msrep_chebyshev_start_##suffix(const V* m, const V* b, V* d, V* x, V* r, i64 n, V c, const double* at) {        \
		chebyshev_start<V>(m, b, d, x, r, n, number(at, 0, c));                                                         \
	}                                                                                                                  \
	extern "C" __global__ void __launch_bounds__(block)                                                                \
		msrep_chebyshev_step_##suffix(const V* m, const V* r, V* d, V* x, i64 n, V a, V c, const double* at) {          \
		chebyshev_step<V>(m, r, d, x, n, number(at, 0, a), number(at, 1, c));                                           \
	}                                                                                                                  \
	extern "C" __global__ void __launch_bounds__(block)                                                                \
		msrep_misfit_##suffix(const V* y, const V* x, double* partial, i64 n, i64 parts, V a, const double* at) {       \
		misfit<V>(y, x, partial, n, parts, number(at, 0, a));                                                           \
	}                                                                                                                  \
	extern "C" __global__ void __launch_bounds__(block) msrep_multiply_##suffix(const V* d, const V* r, V* z, i64 n) { \
		multiply<V>(d, r, z, n);                                                                                       \
	}
MSREP_KRYLOV(f64, double)
MSREP_KRYLOV(f32, float)
