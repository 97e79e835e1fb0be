/* cuSPARSE's generic sparse product, loaded with dlopen. Every function returns a
 * cusparseStatus_t, 0 for success. */

#include <stddef.h>
#include <stdint.h>

/* msrep_sparse_load loads the library once. It returns "", or why the library cannot be used. */
const char *msrep_sparse_load(void);

/* msrep_sparse_path returns the file that the library was loaded from. */
const char *msrep_sparse_path(void);

const char *msrep_sparse_text(int status);
int msrep_sparse_version(int *major, int *minor, int *patch);

int msrep_sparse_create(void **handle);
int msrep_sparse_destroy(void *handle);
int msrep_sparse_set_stream(void *handle, void *stream);

int msrep_sparse_csr(void **mat, int64_t rows, int64_t cols, int64_t nnz, uint64_t ptr, uint64_t idx, uint64_t val, int ptr64, int single);
int msrep_sparse_coo(void **mat, int64_t rows, int64_t cols, int64_t nnz, uint64_t row, uint64_t col, uint64_t val, int single);
int msrep_sparse_destroy_matrix(void *mat);

int msrep_sparse_vector(void **vec, int64_t n, uint64_t val, int single);
int msrep_sparse_set_vector(void *vec, uint64_t val);
int msrep_sparse_destroy_vector(void *vec);

/* The three steps of y = alpha*op(A)*x + beta*y. preprocess does nothing if the
 * library lacks this step. */
int msrep_sparse_buffer(void *h, int trans, double alpha, void *a, void *x, double beta, void *y, int single, int alg, size_t *bytes);
int msrep_sparse_preprocess(void *h, int trans, double alpha, void *a, void *x, double beta, void *y, int single, int alg, uint64_t buffer);
int msrep_sparse_multiply(void *h, int trans, double alpha, void *a, void *x, double beta, void *y, int single, int alg, uint64_t buffer);

/* The steps of y = alpha*A*x + beta*y for a CSR matrix by SpMVOp, NVIDIA's newest. Without it in the library (before
 * 12.7.3, CUDA 13.1), msrep_sparse_has_op returns 0, and the others must not be called. create analyses the matrix with
 * its values, for all later products with this buffer. */
int msrep_sparse_has_op(void);
int msrep_sparse_op_buffer(void *h, void *a, void *x, void *y, int single, size_t *bytes);
int msrep_sparse_op_create(void *h, void *a, void *x, void *y, int single, uint64_t buffer, void **analysis, void **plan);
int msrep_sparse_op_multiply(void *h, void *plan, double alpha, void *x, double beta, void *y, int single);
int msrep_sparse_op_destroy(void *analysis, void *plan);

/* The steps of solving T*y = alpha*x for a triangle of a CSR matrix. Without them in the library (before 11.3),
 * msrep_sparse_solves returns 0, and the others must not be called. */
int msrep_sparse_solves(void);
int msrep_sparse_triangle(void *mat, int upper, int unit);
int msrep_sparse_solve_create(void **solve);
int msrep_sparse_solve_destroy(void *solve);
int msrep_sparse_solve_buffer(void *h, double alpha, void *a, void *x, void *y, int single, void *solve, size_t *bytes);
int msrep_sparse_solve_analyse(void *h, double alpha, void *a, void *x, void *y, int single, void *solve, uint64_t buffer);
int msrep_sparse_solve(void *h, double alpha, void *a, void *x, void *y, int single, void *solve);
