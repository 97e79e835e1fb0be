/* msrep.h - sparse matrices on all devices of a node: products, linear systems, eigenvalues, ranks of graphs.
 *
 *     y = alpha*op(A)*x + beta*y      op(A) is A or its transpose
 *
 * Values are float64; functions that end in _single take float32.
 *
 * Errors. Most functions return an msrep_status. If it is not MSREP_OK, msrep_last_error returns the reason in one
 * line. The outputs are then zero or unchanged, unless a function says otherwise.
 *
 * Threads. Any thread may call any function. Products of one plan run one after the other. An update of a plan waits
 * for its running solves, so that a solve uses the same values throughout.
 *
 * Signals. A signal handler may interrupt a thread of the library, whose stack is small, so it must run on the alternate
 * stack of that thread (SA_ONSTACK). msrep_open sets this flag for the handlers that are installed then. Install later
 * ones by sigaction with SA_ONSTACK, not by signal: they might overwrite other memory. A handler must not call the
 * library: one that interrupts a call of the library and calls it again ends the process. It may set a flag, which a
 * progress callback reads.
 *
 * Fork. A child of fork has no threads of the Go runtime, which the library uses. All functions return MSREP_FORKED
 * there. The parent, a child that calls exec, and a program that loads the library after fork are not affected. The
 * library stays loaded after dlclose.
 *
 * Structs. The first field of every struct is its size in bytes. Initialize structs with MSREP_..._INIT, or set all
 * bytes to 0 and then size to sizeof. 0 is the default of every other field. A program that was compiled with an
 * older header passes a smaller size; the library takes the missing fields as 0. It refuses a larger size if the
 * bytes that it does not know are not 0.
 *
 * Lengths count elements. A null pointer is allowed for an array of length 0.
 */
#ifndef MSREP_H
#define MSREP_H

#include <stddef.h>
#include <stdint.h>

#define MSREP_VERSION_MAJOR 0
#define MSREP_VERSION_MINOR 1
#define MSREP_VERSION_PATCH 0

typedef int msrep_status;
enum {
	MSREP_OK = 0,
	MSREP_BAD_INPUT = 1,     /* msrep_last_error names the argument */
	MSREP_BAD_HANDLE = 2,    /* unknown, closed, or of another kind */
	MSREP_DEVICE_ERROR = 3,  /* a device failed: close the plan */
	MSREP_NOT_CONVERGED = 4, /* a solve: x is the best iterate */
	MSREP_FAILED = 5,        /* anything else */
	MSREP_STOPPED = 6,       /* a callback or msrep_stop ended the call */
	MSREP_FORKED = 7         /* the process is the child of a fork */
};

/* Handles are never 0 and never reused. */
typedef uint64_t msrep_system;
typedef uint64_t msrep_plan;
typedef uint64_t msrep_factors;

enum { MSREP_DETERMINISTIC = 1, MSREP_BORROW = 2 };         /* flags of plans and solves */
enum { MSREP_YIELD = 4 };                                   /* a flag of msrep_open_with */
enum { MSREP_CSR = 0, MSREP_CSC = 1, MSREP_COO = 2 };       /* layouts of a matrix */
enum { MSREP_CG = 0, MSREP_BICGSTAB = 1, MSREP_GMRES = 2 }; /* methods of msrep_solve */
enum { MSREP_NO_PRECOND = 0, MSREP_JACOBI = 1 };            /* preconditioners of msrep_solve */

/* Calls piece(0, arg) ... piece(n-1, arg), each once, and returns when the calls have returned. The calls may come from
 * any threads, and best come at the same time. */
typedef void (*msrep_runner)(int n, void (*piece)(int i, void *arg), void *arg);

#ifdef _OPENMP
/* An msrep_runner that calls piece on the threads of OpenMP. It is only declared if the program is compiled for OpenMP. */
static inline void msrep_run_openmp(int n, void (*piece)(int i, void *arg), void *arg)
{
#pragma omp parallel for schedule(static, 1) num_threads(n)
	for (int i = 0; i < n; i++)
		piece(i, arg);
}
#define MSREP_RUN_OPENMP msrep_run_openmp
#endif

/* Options of msrep_open_with. */
typedef struct {
	size_t size;
	const char *devices; /* see msrep_open; null means "auto" */
	int threads;         /* CPU threads of all devices; 0 means all available threads */
	int flags;           /* 0, or MSREP_YIELD: threads of the library sleep at once between calls, and do not poll for
	                      * the next product for up to 100 us. Each call takes some 15 us more. It is for programs whose
	                      * own threads work between products. */
	msrep_runner run;    /* null, or a function that runs the parts of a product, such as MSREP_RUN_OPENMP. The library
	                      * then has no threads of its own for products. A program with loops by OpenMP between products
	                      * gains most by it: threads of two pools that both poll take the CPUs from each other. */
} msrep_open_options;
#define MSREP_OPEN_OPTIONS_INIT {sizeof(msrep_open_options), 0, 0, 0, 0}

/* A matrix in arrays of the caller. */
typedef struct {
	size_t size;
	int64_t rows, cols, nnz;
	int layout;           /* MSREP_CSR, MSREP_CSC or MSREP_COO */
	int pointer_bits;     /* 32 or 64, 0 means 64: the type of pointers in CSR and CSC */
	int index_bits;       /* 32 or 64, 0 means 32: the type of indices, and of pointers in COO */
	int value_bits;       /* 32 or 64, 0 means 64: float or double */
	int base;             /* 0 or 1: pointers and indices count from this */
	const void *pointers; /* CSR: rows+1 row pointers. CSC: cols+1 column pointers. COO: nnz row indices */
	const void *indices;  /* nnz: column indices, in CSC row indices */
	const void *values;   /* nnz; null means that all values are 1 */
} msrep_matrix;
#define MSREP_MATRIX_INIT {sizeof(msrep_matrix), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}

/* A callback of long calls. The thread that called the library calls it for each iteration, in order, and about every
 * 20 ms in between. iteration is 0 before the first one; residual is the relative residual that the method estimates.
 * If the function returns another value than 0, the call ends with MSREP_STOPPED. The function must not call the
 * library for the same system, nor leave by longjmp or an exception. */
typedef int (*msrep_progress)(int64_t iteration, double residual, void *arg);

/* Options of msrep_plan_matrix. */
typedef struct {
	size_t size;
	int flags;                   /* MSREP_DETERMINISTIC: the same bits on any devices with any number of threads.
	                              * MSREP_BORROW: use the arrays of the matrix without a copy where they have 64-bit
	                              * pointers and 32-bit indices that count from 0. The caller keeps them unchanged until
	                              * the plan is closed. msrep_update borrows its array too, in place of values. */
	int64_t expected_products;   /* products that the plan will make; 0 means unknown */
	int64_t expected_transposed; /* products with the transpose, in addition; 0 means few */
	const char *format;          /* "csr", "csc" or "coo"; null means that the library chooses */
	const char *form;            /* a form such as "slices" or "tiles", for every device; null means the fastest */
	msrep_progress progress;     /* called about every 20 ms; may be null */
	void *arg;                   /* passed to progress */
} msrep_plan_options;
#define MSREP_PLAN_OPTIONS_INIT {sizeof(msrep_plan_options), 0, 0, 0, 0, 0, 0, 0}

/* Options of msrep_read_with. */
typedef struct {
	size_t size;
	msrep_progress progress; /* its residual is the part of the file that is left to read, 1 for a generated matrix */
	void *arg;               /* passed to progress */
} msrep_read_options;
#define MSREP_READ_OPTIONS_INIT {sizeof(msrep_read_options), 0, 0}

/* Options of a solve. */
typedef struct {
	size_t size;
	const char *method;  /* "cg", "minres", "bicgstab", "gmres", "fgmres", "idr", "lsmr", "direct"; null means auto */
	const char *precond; /* "none", "jacobi", "block-jacobi:N", "ilu", "ic", "ilut", "amg", "chebyshev"; null means auto */
	const char *order;   /* of factors: "none", "rcm", "amd"; null means auto */
	double tol;          /* relative residual |b - A x| / |b| to reach; 0 means 1e-8 */
	int64_t max_iter;    /* 0 means 10 times the rows, at least 1000 */
	int64_t restart;     /* iterations between restarts of gmres and fgmres; 0 means the default */
	double seconds;      /* limit of the time; 0 means none */
	int64_t max_bytes;   /* limit of the memory of factors; 0 means the available memory */
	int flags;           /* 0 or MSREP_DETERMINISTIC */
	msrep_progress progress; /* may be null */
	void *arg;               /* passed to progress */
} msrep_solve_options;
#define MSREP_SOLVE_OPTIONS_INIT {sizeof(msrep_solve_options), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}

/* Result of a solve. The caller sets size. */
typedef struct {
	size_t size;
	int64_t iterations;
	double residual; /* relative, computed from x; after MSREP_STOPPED that of the last iteration */
	double seconds;
	char method[32], precond[32], order[32]; /* what gave x */
	int least_squares; /* 1: no x satisfies all equations; this x minimises |b - A x| */
} msrep_solve_result;
#define MSREP_SOLVE_RESULT_INIT {sizeof(msrep_solve_result), 0, 0, 0, {0}, {0}, {0}, 0}

/* Options of msrep_eigs and msrep_svds. */
typedef struct {
	size_t size;
	const char *which;   /* "largest" (null), "smallest", or for msrep_eigs also "magnitude" and "near" */
	double sigma;        /* with "near": the number to which the eigenvalues are nearest */
	double tol;          /* largest residual of a result, relative to the norm of the matrix; 0 means 1e-10 */
	int64_t max_iter;    /* 0 means the default, which suits most matrices */
	int64_t basis;       /* vectors of the basis, more than k; 0 means that the library chooses */
	const double *start; /* the first vector, an element for each column; null means a random vector */
	uint64_t seed;       /* of random vectors */
	const char *method;  /* "lanczos" (null) or, for msrep_eigs, "lobpcg" */
	int flags;           /* 0 or MSREP_DETERMINISTIC */
	msrep_progress progress; /* its residual is the largest of the values to find, relative to the norm; may be null */
	void *arg;
} msrep_eigs_options;
#define MSREP_EIGS_OPTIONS_INIT {sizeof(msrep_eigs_options), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}

/* Result of msrep_eigs and msrep_svds. The caller sets size. */
typedef struct {
	size_t size;
	int64_t count; /* values that were stored */
	int64_t iterations, products;
	double norm; /* estimate of the 2-norm of the matrix */
	double seconds;
} msrep_eigs_result;
#define MSREP_EIGS_RESULT_INIT {sizeof(msrep_eigs_result), 0, 0, 0, 0, 0}

/* Options of msrep_pagerank. */
typedef struct {
	size_t size;
	double damping;         /* 0 means 0.85 */
	double tol;             /* of the 1-norm of the difference of two iterates; 0 means 1e-10 */
	int64_t max_iter;       /* 0 means 1000 */
	const double *teleport; /* where the walk starts anew: n numbers of at least 0; null means all nodes alike */
	const double *start;    /* the first iterate, such as earlier ranks; null means teleport, or all nodes alike */
	const char *dangling;   /* where nodes without links lead: "teleport" (null) or "uniform" */
	int weighted;           /* 1: values are the weights of the links; 0: all links of a node are alike */
	int flags;              /* 0 */
	msrep_progress progress; /* called about every 20 ms; may be null */
	void *arg;
} msrep_pagerank_options;
#define MSREP_PAGERANK_OPTIONS_INIT {sizeof(msrep_pagerank_options), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}

/* Result of msrep_pagerank. The caller sets size. */
typedef struct {
	size_t size;
	int64_t iterations;
	double residual;  /* 1-norm of the difference of the last two iterates */
	int64_t dangling; /* nodes without links */
	double seconds;
} msrep_pagerank_result;
#define MSREP_PAGERANK_RESULT_INIT {sizeof(msrep_pagerank_result), 0, 0, 0, 0}

/* Called by msrep_for for the items lo to hi-1. */
typedef void (*msrep_range)(int64_t lo, int64_t hi, void *arg);

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the library, such as "0.1.0". */
const char *msrep_version(void);

/* The error message of the last call in this thread that failed: one line, valid until the thread calls the library
 * again. */
const char *msrep_last_error(void);

/* Opens devices and stores their handle in *system, or 0 after an error. devices is "auto" (or null), "cpu", "cpu:N"
 * (N CPU devices), "sim:N" (N simulated GPUs), and "cuda" or "cuda:0,2" (GPUs) if the library was built with the tag
 * cuda. threads is the total number of CPU threads, 0 for all available threads. */
msrep_status msrep_open(const char *devices, int threads, msrep_system *system);

/* Opens devices as options say. A null options means the defaults. */
msrep_status msrep_open_with(const msrep_open_options *options, msrep_system *system);

/* Splits a matrix of rows x cols with nnz entries among the devices and stores the handle of the plan in *plan, or 0
 * after an error. row_ptr has rows+1 elements, from 0 to nnz; col_idx and val have nnz. The arrays are copied. flags is
 * 0, or MSREP_DETERMINISTIC for the same bits on any devices with any number of threads. */
msrep_status msrep_plan_csr(msrep_system system, int64_t rows, int64_t cols, int64_t nnz, const int64_t *row_ptr,
                            const int32_t *col_idx, const double *val, int flags, msrep_plan *plan);
msrep_status msrep_plan_csr_single(msrep_system system, int64_t rows, int64_t cols, int64_t nnz, const int64_t *row_ptr,
                                   const int32_t *col_idx, const float *val, int flags, msrep_plan *plan);

/* Makes a plan of a matrix in any layout. A plan of values of 32 bits is for the functions that end in _single. The
 * arrays are copied, unless options has the flag MSREP_BORROW. A null options means the defaults. */
msrep_status msrep_plan_matrix(msrep_system system, const msrep_matrix *matrix, const msrep_plan_options *options,
                               msrep_plan *plan);

/* Replaces the values by val, nnz values in the order of the matrix that the plan was made of, and keeps the structure.
 * val is copied, unless the plan has the flag MSREP_BORROW. Updates and products return MSREP_BAD_HANDLE for a plan with
 * values of the other type. */
msrep_status msrep_update(msrep_plan plan, int64_t nnz, const double *val);
msrep_status msrep_update_single(msrep_plan plan, int64_t nnz, const float *val);

/* y = alpha*op(A)*x + beta*y; op(A) is the transpose when transpose is not 0. nx and ny are the lengths of x and y,
 * which must not overlap. With beta = 0, y is not read. */
msrep_status msrep_multiply(msrep_plan plan, int transpose, double alpha, int64_t nx, const double *x, double beta,
                            int64_t ny, double *y);
msrep_status msrep_multiply_single(msrep_plan plan, int transpose, float alpha, int64_t nx, const float *x, float beta,
                                   int64_t ny, float *y);

/* msrep_multiply for vectors in the memory of a GPU, on which alone the plan is ("cuda:0"): kernels use them there, without
 * copies. They are memory of the GPU's primary context, as that of the CUDA runtime is. The product begins when all work
 * that was queued on the GPU is done, and is complete at the return. */
msrep_status msrep_multiply_on_gpu(msrep_plan plan, int transpose, double alpha, int64_t nx, const double *x, double beta,
                                   int64_t ny, double *y);
msrep_status msrep_multiply_on_gpu_single(msrep_plan plan, int transpose, float alpha, int64_t nx, const float *x,
                                          float beta, int64_t ny, float *y);

/* msrep_multiply for count vectors at once. nx and ny are the lengths of one vector. Element i of vector j is
 * x[i*x_stride + j], or x[j*x_stride + i] if by_column is not 0; y likewise. A stride is at least count, or by column at
 * least the length. Elements between the vectors are not written. By row is faster. */
msrep_status msrep_multiply_many(msrep_plan plan, int transpose, int64_t count, double alpha, int64_t nx,
                                 const double *x, int64_t x_stride, double beta, int64_t ny, double *y,
                                 int64_t y_stride, int by_column);
msrep_status msrep_multiply_many_single(msrep_plan plan, int transpose, int64_t count, float alpha, int64_t nx,
                                        const float *x, int64_t x_stride, float beta, int64_t ny, float *y,
                                        int64_t y_stride, int by_column);

/* Writes a description of the plan to text, as JSON with a final 0: rows, cols, nnz, values ("float64"), format, bytes,
 * choice (the forms, one line), and for each device its name, rows, nnz, form, reason and bytes. *length, unless
 * null, receives the capacity that the text needs. A smaller capacity is MSREP_BAD_INPUT, except 0 with a null text. */
msrep_status msrep_describe(msrep_plan plan, char *text, size_t capacity, size_t *length);

/* Solves A x = b for n equations, with a method (MSREP_CG, MSREP_BICGSTAB or MSREP_GMRES) and a preconditioner
 * (MSREP_NO_PRECOND or MSREP_JACOBI). x is the initial guess and receives the solution. tol is the relative residual
 * |b - A x| / |b| to reach; 0 means 1e-8. max_iter = 0 means 10 n, at least 1000. iterations and residual receive the
 * number of iterations and the relative residual; both may be null. A plan with float32 values multiplies in float32,
 * which limits the residual: CG reaches about 2e-8 times the condition number of A. That is 7e-6, 8e-5 and 7e-4 for
 * 5-point Laplacians of 30^2, 100^2 and 300^2 unknowns and b of ones. For a smaller tol the status is
 * MSREP_NOT_CONVERGED: use a plan with float64 values. */
msrep_status msrep_solve(msrep_plan plan, int method, int precond, int64_t n, const double *b, double *x, double tol,
                         int64_t max_iter, int64_t *iterations, double *residual);

/* Solves A x = b: m is the length of b, the rows of the matrix, n that of x. x is the first guess and receives the
 * solution. Unless options names them, the library chooses method and preconditioner by the matrix, and tries others if
 * they fail. options and result may be null. After MSREP_NOT_CONVERGED x is the best iterate; after MSREP_STOPPED it
 * is the last iterate, or the first guess if the library was not iterating. A system that no x satisfies is
 * MSREP_NOT_CONVERGED; result->least_squares is 1 if x minimises |b - A x|. b and x must not overlap. */
msrep_status msrep_solve_with(msrep_system system, const msrep_matrix *matrix, int64_t m, const double *b, int64_t n,
                              double *x, const msrep_solve_options *options, msrep_solve_result *result);

/* Solves A x = b by one iterative method with the products of a plan; see msrep_solve_with. The method is gmres unless
 * options names another, or lsmr for a matrix that is not square; the preconditioner is none. A least squares solution of
 * lsmr is MSREP_OK. MSREP_DETERMINISTIC needs a plan with this flag. */
msrep_status msrep_plan_solve(msrep_plan plan, int64_t m, const double *b, int64_t n, double *x,
                              const msrep_solve_options *options, msrep_solve_result *result);

/* Ends the running calls of a system, of a plan or of factors: within 0.2 s they return MSREP_STOPPED. This function
 * does not wait for them. It ends msrep_solve, msrep_plan_csr, msrep_factor, msrep_factor_update, and all functions with
 * a progress callback, except msrep_read_with, which has no handle. If such a call is in a step that cannot be
 * interrupted, such as ordering rows, it returns and the step ends in the background. A plan that borrows its matrix, or
 * of a system with msrep_open_options.run, waits for the end of the step. */
msrep_status msrep_stop(uint64_t handle);

/* Computes complete factors of a square matrix, by which msrep_factor_solve solves systems. kind is "lu" (or null) or
 * "cholesky", for a symmetric positive definite matrix. order is "auto" (or null), "none", "rcm" or "amd". A singular
 * matrix is MSREP_BAD_INPUT. The arrays are copied. */
msrep_status msrep_factor(msrep_system system, const msrep_matrix *matrix, const char *kind, const char *order,
                          msrep_factors *factors);

/* Solves A x = b for n equations. After MSREP_NOT_CONVERGED x is inaccurate, as the matrix is nearly singular. Several
 * threads may solve at the same time. */
msrep_status msrep_factor_solve(msrep_factors factors, int64_t n, const double *b, double *x);

/* Replaces the factors by those of the matrix with other values: nnz values in the order of msrep_factor. The analysis
 * of the structure is kept. After an error the factors may be unusable until another update succeeds. */
msrep_status msrep_factor_update(msrep_factors factors, int64_t nnz, const double *val);

/* Finds k eigenvalues of a symmetric matrix with n rows: values gets k numbers, vectors k*n (the eigenvectors of length
 * 1, one after the other) and residuals k (|A v - lambda v|). vectors, residuals, options and result may be null. After
 * MSREP_NOT_CONVERGED result->count values were stored, and some residuals are above the tolerance. "near" computes
 * factors of A - sigma*I. */
msrep_status msrep_eigs(msrep_system system, const msrep_matrix *matrix, int64_t k, const msrep_eigs_options *options,
                        double *values, double *vectors, double *residuals, msrep_eigs_result *result);

/* Finds k singular values of any matrix, A v = sigma u: u gets k vectors with an element for each row, v k vectors with
 * an element for each column; see msrep_eigs. u and v may be null. "smallest" computes factors. */
msrep_status msrep_svds(msrep_system system, const msrep_matrix *matrix, int64_t k, const msrep_eigs_options *options,
                        double *values, double *u, double *v, double *residuals, msrep_eigs_result *result);

/* Ranks the n nodes of a directed graph by PageRank. An entry (i, j) of the matrix is a link from node i to node j.
 * The ranks have the sum 1. options and result may be null. */
msrep_status msrep_pagerank(msrep_system system, const msrep_matrix *matrix, int64_t n, double *ranks,
                            const msrep_pagerank_options *options, msrep_pagerank_result *result);

/* Calls f for all of the items 0 to n-1, in ranges of at least grain items, at the same time on the workers of the
 * plan's CPU device, and waits. It is for loops over vectors between products: the workers are awake then, and threads
 * of another pool would compete with them. Choose a grain of at least a microsecond of work. f must not call the
 * library, nor leave by longjmp or an exception. */
msrep_status msrep_for(msrep_plan plan, int64_t n, int64_t grain, msrep_range f, void *arg);

/* Reads a matrix from a file in any format of the command msrep (.mtx, .mtx.gz, .npz, .rb, .msr, ...), or generates
 * one from a name such as "gen:stencil:n=100". The caller sets matrix->size. The matrix has float64 values in CSR with
 * 64-bit pointers and 32-bit indices that count from 0. The library owns the arrays, which the caller may read. A null
 * options means the defaults, which are those of msrep_read. */
msrep_status msrep_read(const char *path, msrep_matrix *matrix);
msrep_status msrep_read_with(const char *path, const msrep_read_options *options, msrep_matrix *matrix);

/* Frees the arrays of a matrix that msrep_read has read, and clears the struct. Plans that borrow the arrays must be
 * closed before. */
msrep_status msrep_matrix_free(msrep_matrix *matrix);

/* Writes a matrix to a file; the extension of its name says the format. */
msrep_status msrep_write(const char *path, const msrep_matrix *matrix);

/* Writes figures of a matrix to text, as JSON with a final 0: those of "msrep info --json" (rows, cols, nnz, row,
 * bandwidth, formats, recommended, ...). See msrep_describe for capacity and length. */
msrep_status msrep_info(const msrep_matrix *matrix, char *text, size_t capacity, size_t *length);

/* Releases a system with all that was made on it, or a plan, or factors. It waits for a running product. Solves and
 * other long calls that use the handle end with MSREP_BAD_HANDLE. */
msrep_status msrep_close(uint64_t handle);

#ifdef __cplusplus
}
#endif
#endif
