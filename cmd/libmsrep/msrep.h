/* msrep.h - sparse matrix-vector products on all devices of a node.
 *
 *     y = alpha*op(A)*x + beta*y      op(A) = A or its transpose, A in CSR
 *
 * in float64. Functions that end in _single use float32.
 *
 * All functions except msrep_version and msrep_last_error return an msrep_status. Any
 * thread may call them, but no signal handler: a handler that interrupts a call of the
 * library and calls the library itself ends the process. A handler may set a flag for the
 * program to check. Products of one plan run one after the other. msrep_update waits until
 * msrep_solve of the same plan has returned, so that a solve uses the same values
 * throughout. Row pointers and indices count from 0. Lengths count elements. A null
 * pointer is allowed for an array of length 0.
 *
 * The library starts the Go runtime. A process that forks must not use the library in the
 * child before exec. The library stays loaded after dlclose.
 */
#ifndef MSREP_H
#define MSREP_H

#include <stdint.h>

#define MSREP_VERSION_MAJOR 0
#define MSREP_VERSION_MINOR 1

typedef int msrep_status;
enum {
	MSREP_OK = 0,
	MSREP_BAD_INPUT = 1,     /* msrep_last_error names the argument */
	MSREP_BAD_HANDLE = 2,    /* unknown, closed, or of another kind */
	MSREP_DEVICE_ERROR = 3,  /* a device failed: close the plan */
	MSREP_NOT_CONVERGED = 4, /* msrep_solve: x is the last iterate */
	MSREP_FAILED = 5         /* anything else */
};

/* Handles are never 0 and never reused. */
typedef uint64_t msrep_system;
typedef uint64_t msrep_plan;

enum { MSREP_DETERMINISTIC = 1 }; /* flags of msrep_plan_csr */
enum { MSREP_CG = 0, MSREP_BICGSTAB = 1, MSREP_GMRES = 2 };
enum { MSREP_NO_PRECOND = 0, MSREP_JACOBI = 1 };

#ifndef MSREP_NO_PROTOTYPES
#ifdef __cplusplus
extern "C" {
#endif

/* The version of the library, "0.1.0-dev". */
const char *msrep_version(void);

/* The error message of the last call in this thread that failed: one line, valid until
 * the thread calls the library again. */
const char *msrep_last_error(void);

/* Opens devices and stores their handle in *system, or 0 after an error. devices is "auto"
 * (or null), "cpu", "cpu:N" (N CPU devices), "sim:N" (N simulated GPUs), and "cuda" or
 * "cuda:0,2" (GPUs) if the library was built with the tag cuda. threads is the total number
 * of CPU threads, 0 for all available threads. */
msrep_status msrep_open(const char *devices, int threads, msrep_system *system);

/* Splits a matrix of rows x cols with nnz entries among the devices and stores the handle of
 * the plan in *plan, or 0 after an error. row_ptr has rows+1 elements, from 0 to nnz;
 * col_idx and val have nnz. The arrays are copied. flags is 0, or MSREP_DETERMINISTIC for
 * the same bits on any devices with any number of threads. */
msrep_status msrep_plan_csr(msrep_system system, int64_t rows, int64_t cols, int64_t nnz, const int64_t *row_ptr,
                            const int32_t *col_idx, const double *val, int flags, msrep_plan *plan);

msrep_status msrep_plan_csr_single(msrep_system system, int64_t rows, int64_t cols, int64_t nnz, const int64_t *row_ptr,
                                   const int32_t *col_idx, const float *val, int flags, msrep_plan *plan);

/* Replaces the values by val, nnz values in the order of msrep_plan_csr, and keeps the
 * structure. val is copied. This function and msrep_multiply return MSREP_BAD_HANDLE for a plan of the other value type. */
msrep_status msrep_update(msrep_plan plan, int64_t nnz, const double *val);
msrep_status msrep_update_single(msrep_plan plan, int64_t nnz, const float *val);

/* y = alpha*op(A)*x + beta*y; op(A) is the transpose when transpose is not 0. nx and ny
 * are the lengths of x and y, which must not overlap. With beta = 0, y is not read. */
msrep_status msrep_multiply(msrep_plan plan, int transpose, double alpha, int64_t nx, const double *x, double beta,
                            int64_t ny, double *y);
msrep_status msrep_multiply_single(msrep_plan plan, int transpose, float alpha, int64_t nx, const float *x, float beta,
                                   int64_t ny, float *y);

/* Solves A x = b for n equations, with a method (MSREP_CG, MSREP_BICGSTAB or MSREP_GMRES) and
 * a preconditioner (MSREP_NO_PRECOND or MSREP_JACOBI). x is the initial guess and receives
 * the solution. tol is the relative residual |b - A x| / |b| to reach; 0 means 1e-8. max_iter = 0 means 10 n, at least 1000.
 * iterations and residual receive the number of iterations and the relative residual; both
 * may be null. A plan with float32 values multiplies in float32, which limits the residual:
 * CG reaches about 2e-8 times the condition number of A. That is 7e-6, 8e-5 and 7e-4 for
 * 5-point Laplacians of 30^2, 100^2 and 300^2 unknowns and b of ones. For a smaller tol the
 * status is MSREP_NOT_CONVERGED: use a plan with float64 values. */
msrep_status msrep_solve(msrep_plan plan, int method, int precond, int64_t n, const double *b, double *x, double tol,
                         int64_t max_iter, int64_t *iterations, double *residual);

/* Releases a plan, or a system with all of its plans, and waits for a running product. */
msrep_status msrep_close(uint64_t handle);

#ifdef __cplusplus
}
#endif
#endif
#endif
