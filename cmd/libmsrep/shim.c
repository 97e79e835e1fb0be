// The public functions. Each refuses to enter Go in the child of a fork, which has no thread of the Go runtime, and
// calls the Go function of its name.

#include "_cgo_export.h"

#include <string.h>
#ifndef _WIN32
#include <pthread.h>
#include <signal.h>
#endif

static __thread char last[1024];
static int forked;

void keep_last_error(const char *text) {
	strncpy(last, text, sizeof last - 1);
	last[sizeof last - 1] = 0;
}

#ifndef _WIN32
static void in_child(void) { forked = 1; }

__attribute__((constructor)) static void watch_forks(void) { pthread_atfork(NULL, NULL, in_child); }
#endif

static msrep_status refuse(void) {
	keep_last_error("this process was forked after it loaded the library, whose threads fork does not copy: fork "
	                "before the library is loaded, or call exec in the child");
	return MSREP_FORKED;
}

#define CALL(go) (__builtin_expect(forked, 0) ? refuse() : (go))
#define IN(pointer) ((void *)(pointer)) // Go has no const

int call_progress(msrep_progress f, int64_t iteration, double residual, void *arg) {
	return f(iteration, residual, arg);
}

void call_range(msrep_range f, int64_t lo, int64_t hi, void *arg) { f(lo, hi, arg); }

static void piece(int i, void *f) { msrepgo_piece(i, (uintptr_t)f); }

void call_runner(msrep_runner run, int n, uintptr_t f) { run(n, piece, (void *)f); }

// use_signal_stacks sets SA_ONSTACK for all signal handlers that lack it. Threads of the Go runtime have alternate stacks,
// because their own are too small for a handler. The runtime does the same when the library is loaded, but most programs
// install their handlers after that.
static void use_signal_stacks(void) {
#ifndef _WIN32
	for (int number = 1; number < NSIG; number++) {
		struct sigaction act;
		if (sigaction(number, NULL, &act) != 0 || act.sa_flags & SA_ONSTACK)
			continue;
		if (!(act.sa_flags & SA_SIGINFO) && (act.sa_handler == SIG_DFL || act.sa_handler == SIG_IGN))
			continue;
		act.sa_flags |= SA_ONSTACK;
		sigaction(number, &act, NULL);
	}
#endif
}

const char *msrep_version(void) { return forked ? "" : msrepgo_version(); }

const char *msrep_last_error(void) { return last; }

msrep_status msrep_open(const char *devices, int threads, msrep_system *system) {
	use_signal_stacks();
	return CALL(msrepgo_open(IN(devices), threads, system));
}

msrep_status msrep_open_with(const msrep_open_options *options, msrep_system *system) {
	use_signal_stacks();
	return CALL(msrepgo_open_with(IN(options), system));
}

msrep_status msrep_plan_csr(msrep_system system, int64_t rows, int64_t cols, int64_t nnz, const int64_t *row_ptr,
                            const int32_t *col_idx, const double *val, int flags, msrep_plan *plan) {
	return CALL(msrepgo_plan_csr(system, rows, cols, nnz, IN(row_ptr), IN(col_idx), IN(val), 64, flags, plan));
}

msrep_status msrep_plan_csr_single(msrep_system system, int64_t rows, int64_t cols, int64_t nnz, const int64_t *row_ptr,
                                   const int32_t *col_idx, const float *val, int flags, msrep_plan *plan) {
	return CALL(msrepgo_plan_csr(system, rows, cols, nnz, IN(row_ptr), IN(col_idx), IN(val), 32, flags, plan));
}

msrep_status msrep_plan_matrix(msrep_system system, const msrep_matrix *matrix, const msrep_plan_options *options,
                               msrep_plan *plan) {
	return CALL(msrepgo_plan_matrix(system, IN(matrix), IN(options), plan));
}

msrep_status msrep_update(msrep_plan plan, int64_t nnz, const double *val) {
	return CALL(msrepgo_update(plan, nnz, IN(val)));
}

msrep_status msrep_update_single(msrep_plan plan, int64_t nnz, const float *val) {
	return CALL(msrepgo_update_single(plan, nnz, IN(val)));
}

msrep_status msrep_multiply(msrep_plan plan, int transpose, double alpha, int64_t nx, const double *x, double beta,
                            int64_t ny, double *y) {
	return CALL(msrepgo_multiply(plan, transpose, alpha, nx, IN(x), beta, ny, y));
}

msrep_status msrep_multiply_single(msrep_plan plan, int transpose, float alpha, int64_t nx, const float *x, float beta,
                                   int64_t ny, float *y) {
	return CALL(msrepgo_multiply_single(plan, transpose, alpha, nx, IN(x), beta, ny, y));
}

msrep_status msrep_multiply_on_gpu(msrep_plan plan, int transpose, double alpha, int64_t nx, const double *x, double beta,
                                   int64_t ny, double *y) {
	return CALL(msrepgo_multiply_on_gpu(plan, transpose, alpha, nx, (uintptr_t)x, beta, ny, (uintptr_t)y));
}

msrep_status msrep_multiply_on_gpu_single(msrep_plan plan, int transpose, float alpha, int64_t nx, const float *x,
                                          float beta, int64_t ny, float *y) {
	return CALL(msrepgo_multiply_on_gpu_single(plan, transpose, alpha, nx, (uintptr_t)x, beta, ny, (uintptr_t)y));
}

msrep_status msrep_multiply_many(msrep_plan plan, int transpose, int64_t count, double alpha, int64_t nx,
                                 const double *x, int64_t x_stride, double beta, int64_t ny, double *y,
                                 int64_t y_stride, int by_column) {
	return CALL(msrepgo_multiply_many(plan, transpose, count, alpha, nx, IN(x), x_stride, beta, ny, y, y_stride, by_column));
}

msrep_status msrep_multiply_many_single(msrep_plan plan, int transpose, int64_t count, float alpha, int64_t nx,
                                        const float *x, int64_t x_stride, float beta, int64_t ny, float *y,
                                        int64_t y_stride, int by_column) {
	return CALL(msrepgo_multiply_many_single(plan, transpose, count, alpha, nx, IN(x), x_stride, beta, ny, y, y_stride, by_column));
}

msrep_status msrep_describe(msrep_plan plan, char *text, size_t capacity, size_t *length) {
	return CALL(msrepgo_describe(plan, text, capacity, length));
}

msrep_status msrep_solve(msrep_plan plan, int method, int precond, int64_t n, const double *b, double *x, double tol,
                         int64_t max_iter, int64_t *iterations, double *residual) {
	return CALL(msrepgo_solve(plan, method, precond, n, IN(b), x, tol, max_iter, iterations, residual));
}

msrep_status msrep_solve_with(msrep_system system, const msrep_matrix *matrix, int64_t m, const double *b, int64_t n,
                              double *x, const msrep_solve_options *options, msrep_solve_result *result) {
	return CALL(msrepgo_solve_with(system, IN(matrix), m, IN(b), n, x, IN(options), result));
}

msrep_status msrep_plan_solve(msrep_plan plan, int64_t m, const double *b, int64_t n, double *x,
                              const msrep_solve_options *options, msrep_solve_result *result) {
	return CALL(msrepgo_plan_solve(plan, m, IN(b), n, x, IN(options), result));
}

msrep_status msrep_stop(uint64_t handle) { return CALL(msrepgo_stop(handle)); }

msrep_status msrep_factor(msrep_system system, const msrep_matrix *matrix, const char *kind, const char *order,
                          msrep_factors *factors) {
	return CALL(msrepgo_factor(system, IN(matrix), IN(kind), IN(order), factors));
}

msrep_status msrep_factor_solve(msrep_factors factors, int64_t n, const double *b, double *x) {
	return CALL(msrepgo_factor_solve(factors, n, IN(b), x));
}

msrep_status msrep_factor_update(msrep_factors factors, int64_t nnz, const double *val) {
	return CALL(msrepgo_factor_update(factors, nnz, IN(val)));
}

msrep_status msrep_eigs(msrep_system system, const msrep_matrix *matrix, int64_t k, const msrep_eigs_options *options,
                        double *values, double *vectors, double *residuals, msrep_eigs_result *result) {
	return CALL(msrepgo_eigs(system, IN(matrix), k, IN(options), values, vectors, residuals, result));
}

msrep_status msrep_svds(msrep_system system, const msrep_matrix *matrix, int64_t k, const msrep_eigs_options *options,
                        double *values, double *u, double *v, double *residuals, msrep_eigs_result *result) {
	return CALL(msrepgo_svds(system, IN(matrix), k, IN(options), values, u, v, residuals, result));
}

msrep_status msrep_pagerank(msrep_system system, const msrep_matrix *matrix, int64_t n, double *ranks,
                            const msrep_pagerank_options *options, msrep_pagerank_result *result) {
	return CALL(msrepgo_pagerank(system, IN(matrix), n, ranks, IN(options), result));
}

msrep_status msrep_for(msrep_plan plan, int64_t n, int64_t grain, msrep_range f, void *arg) {
	return CALL(msrepgo_for(plan, n, grain, f, arg));
}

msrep_status msrep_read(const char *path, msrep_matrix *matrix) {
	return CALL(msrepgo_read_with(IN(path), NULL, matrix));
}

msrep_status msrep_read_with(const char *path, const msrep_read_options *options, msrep_matrix *matrix) {
	return CALL(msrepgo_read_with(IN(path), IN(options), matrix));
}

msrep_status msrep_matrix_free(msrep_matrix *matrix) { return CALL(msrepgo_matrix_free(matrix)); }

msrep_status msrep_write(const char *path, const msrep_matrix *matrix) {
	return CALL(msrepgo_write(IN(path), IN(matrix)));
}

msrep_status msrep_info(const msrep_matrix *matrix, char *text, size_t capacity, size_t *length) {
	return CALL(msrepgo_info(IN(matrix), text, capacity, length));
}

msrep_status msrep_close(uint64_t handle) { return CALL(msrepgo_close(handle)); }
