/* Checks that every wrong call returns an error status and leaves the library usable. */
#include <math.h>
#include <msrep.h>
#include <stdio.h>
#include <string.h>

static int bad;
static const double constant[2] = {1, 1};

static void expect(msrep_status got, msrep_status want, const char *says, int line) {
	if (got != want || (want != MSREP_OK && !strstr(msrep_last_error(), says))) {
		fprintf(stderr, "line %d: status %d (%s), expected %d (%s)\n", line, got, msrep_last_error(), want, says);
		bad = 1;
	}
}
#define EXPECT(call, want, says) expect(call, want, says, __LINE__)

static void visit(int64_t lo, int64_t hi, void *arg) {
	(void)lo, (void)hi, (void)arg;
}

/* Wrong matrices and options for msrep_plan_matrix. */
static void matrices(msrep_system sys) {
	static const int32_t ptr32[] = {0, 1, 2}, from1[] = {1, 2, 3}, idx[] = {0, 1}, outside[] = {0, 2}, below[] = {INT32_MIN, 0};
	static const int64_t ptr[] = {0, 1, 2}, wide[] = {0, INT64_C(1) << 32}, falls[] = {0, 3, 2}, least[] = {0, INT64_MIN, 2};
	static const double val[] = {2, 3};
	const msrep_matrix good = {sizeof good, 2, 2, 2, MSREP_CSR, 0, 0, 0, 0, ptr, idx, val};
	const msrep_plan_options plain = MSREP_PLAN_OPTIONS_INIT;
	msrep_plan plan = 1;
#define MATRIX(change, want, says)                                                                                         \
	do {                                                                                                                   \
		for (int borrow = 0; borrow <= 1; borrow++) {                                                                      \
			msrep_matrix a = good;                                                                                         \
			msrep_plan_options o = plain;                                                                                  \
			o.flags = borrow ? MSREP_BORROW : 0;                                                                           \
			change;                                                                                                        \
			EXPECT(msrep_plan_matrix(sys, &a, &o, &plan), want, says);                                                     \
			if (want == MSREP_OK ? msrep_close(plan) : plan != 0)                                                          \
				bad = 1, fprintf(stderr, "line %d: wrong plan\n", __LINE__);                                               \
		}                                                                                                                  \
	} while (0)
	MATRIX((void)0, MSREP_OK, "");
	MATRIX(a.values = NULL, MSREP_OK, "");
	MATRIX(a.size = 0, MSREP_BAD_INPUT, "matrix: its size is 0: set size to sizeof the struct");
	MATRIX(a.size = SIZE_MAX, MSREP_BAD_INPUT, "matrix: its size is");
	MATRIX(a.layout = 3, MSREP_BAD_INPUT, "layout is 3");
	MATRIX(a.base = 2, MSREP_BAD_INPUT, "base is 2");
	MATRIX(a.pointer_bits = 16, MSREP_BAD_INPUT, "pointer_bits is 16");
	MATRIX(a.index_bits = -1, MSREP_BAD_INPUT, "index_bits is -1");
	MATRIX(a.value_bits = 8, MSREP_BAD_INPUT, "value_bits is 8");
	MATRIX(a.rows = INT64_MAX, MSREP_BAD_INPUT, "9223372036854775807 x 2");
	MATRIX(a.cols = -1, MSREP_BAD_INPUT, "2 x -1");
	MATRIX(a.nnz = -1, MSREP_BAD_INPUT, "-1 elements");
	MATRIX(a.nnz = INT64_MAX, MSREP_BAD_INPUT, "no length");
	MATRIX(a.pointers = NULL, MSREP_BAD_INPUT, "pointers: is a null pointer");
	MATRIX(a.indices = NULL, MSREP_BAD_INPUT, "indices: is a null pointer");
	MATRIX(a.pointers = (const char *)ptr + 4, MSREP_BAD_INPUT, "pointers: begins at an address");
	MATRIX(a.pointers = (void *)4096, MSREP_BAD_INPUT, "pointers: byte 0");
	MATRIX(a.indices = (void *)4096, MSREP_BAD_INPUT, "indices: byte 0");
	MATRIX(a.values = (void *)4096, MSREP_BAD_INPUT, "values: byte 0");
	MATRIX((a.pointers = from1, a.pointer_bits = 32), MSREP_BAD_INPUT, "pointers and indices must count from 0, not from 1");
	MATRIX((a.pointers = ptr32, a.pointer_bits = 32, a.base = 1), MSREP_BAD_INPUT, "must count from 1, not from 0");
	MATRIX(a.pointers = falls, MSREP_BAD_INPUT, "falls from 3 to 2");
	MATRIX((a.pointers = from1, a.pointer_bits = 32, a.base = 1), MSREP_BAD_INPUT, "indices: element 0 is 0: use 1 to 2");
	MATRIX(a.pointers = least, MSREP_BAD_INPUT, "falls from 0");
	MATRIX(a.indices = outside, MSREP_BAD_INPUT, "outside [0, 2)");
	MATRIX(a.indices = below, MSREP_BAD_INPUT, "outside [0, 2)");
	MATRIX((a.indices = wide, a.index_bits = 64), MSREP_BAD_INPUT, "indices: element 1 is 4294967296: use 0 to 1");
	MATRIX((a.layout = MSREP_COO, a.pointers = outside), MSREP_BAD_INPUT, "outside [0, 2)");
	MATRIX((a.layout = MSREP_CSC, a.cols = 3), MSREP_BAD_INPUT, "pointers");
	MATRIX(o.flags |= 64, MSREP_BAD_INPUT, "flags: ");
	MATRIX(o.size = 1, MSREP_BAD_INPUT, "options: its size is 1");
	MATRIX(o.expected_products = -1, MSREP_BAD_INPUT, "expected_products: -1");
	MATRIX(o.expected_transposed = INT64_MAX, MSREP_BAD_INPUT, "expected_transposed");
	MATRIX(o.format = "ellpack", MSREP_BAD_INPUT, "ellpack");
	MATRIX(o.form = "square", MSREP_BAD_INPUT, "form: \"square\" is not known");
	MATRIX(o.form = "slices", MSREP_OK, "");
	MATRIX((o.form = "auto", o.format = "csc"), MSREP_OK, "");

	EXPECT(msrep_plan_matrix(sys, NULL, NULL, &plan), MSREP_BAD_INPUT, "matrix: is a null pointer");
	EXPECT(msrep_plan_matrix(sys, &good, NULL, NULL), MSREP_BAD_INPUT, "plan: is a null pointer");
	struct { msrep_plan_options o; int64_t later; } newer = {plain, 0};
	newer.o.size = sizeof newer;
	EXPECT(msrep_plan_matrix(sys, &good, &newer.o, &plan), MSREP_OK, "");
	newer.later = 1;
	EXPECT(msrep_plan_matrix(sys, &good, &newer.o, &plan), MSREP_BAD_INPUT, "options: byte");
	msrep_plan_options older = plain; /* without its last fields, whose bytes belong to others */
	older.size = offsetof(msrep_plan_options, format);
	older.format = older.form = (const char *)4096;
	EXPECT(msrep_plan_matrix(sys, &good, &older, &plan), MSREP_OK, "");
	msrep_open_options open = MSREP_OPEN_OPTIONS_INIT;
	open.flags = 64;
	msrep_system other;
	EXPECT(msrep_open_with(&open, &other), MSREP_BAD_INPUT, "flags: 64");
	EXPECT(msrep_open_with(NULL, NULL), MSREP_BAD_INPUT, "system");
}

/* Wrong arguments of products with several vectors, ranges, texts, files, solves and factors. */
static void others(msrep_system sys, msrep_plan plan) {
	static const int64_t ptr[] = {0, 1, 2};
	static const int32_t idx[] = {0, 1}, same[] = {0, 0};
	static const double val[] = {2, 3};
	msrep_matrix a = {sizeof a, 2, 2, 2, MSREP_CSR, 0, 0, 0, 0, ptr, idx, val};
	double x[8] = {1, 1, 1, 1, 1, 1, 1, 1}, y[8];
	char text[16];
	size_t length;
	EXPECT(msrep_multiply_many(sys, 0, 2, 1, 2, x, 2, 0, 2, y, 2, 0), MSREP_BAD_HANDLE, "");
	EXPECT(msrep_multiply_many_single(plan, 0, 2, 1, 2, (float *)x, 2, 0, 2, (float *)y, 2, 0), MSREP_BAD_HANDLE, "");
	EXPECT(msrep_multiply_many(plan, 0, -1, 1, 2, x, 2, 0, 2, y, 2, 0), MSREP_BAD_INPUT, "count: -1");
	EXPECT(msrep_multiply_many(plan, 0, 0, 1, 2, NULL, 2, 0, 2, NULL, 2, 0), MSREP_OK, "");
	EXPECT(msrep_multiply_many(plan, 0, 2, 1, 3, x, 2, 0, 2, y, 2, 0), MSREP_BAD_INPUT, "x: vectors of 3");
	EXPECT(msrep_multiply_many(plan, 0, 2, 1, 2, x, 2, 0, 1, y, 2, 0), MSREP_BAD_INPUT, "y: vectors of 1");
	EXPECT(msrep_multiply_many(plan, 0, 2, 1, 2, x, 1, 0, 2, y, 2, 0), MSREP_BAD_INPUT, "x: its stride is 1");
	EXPECT(msrep_multiply_many(plan, 0, 3, 1, 2, x, 2, 0, 2, y, 1, 1), MSREP_BAD_INPUT, "y: its stride is 1");
	EXPECT(msrep_multiply_many(plan, 0, 2, 1, 2, x, INT64_MAX, 0, 2, y, 2, 0), MSREP_BAD_INPUT, "x: 2 vectors with a stride of");
	EXPECT(msrep_multiply_many(plan, 0, INT64_MAX, 1, 2, x, INT64_MAX, 0, 2, y, INT64_MAX, 0), MSREP_BAD_INPUT, "no length");
	EXPECT(msrep_multiply_many(plan, 0, INT64_MAX, 1, 2, x, 2, 0, 2, y, 2, 1), MSREP_BAD_INPUT, "no length");
	EXPECT(msrep_multiply_many(plan, 0, 2, 1, 2, NULL, 2, 0, 2, y, 2, 0), MSREP_BAD_INPUT, "x: is a null pointer");
	EXPECT(msrep_multiply_many(plan, 0, 2, 1, 2, x, 2, 0, 2, (double *)4096, 2, 0), MSREP_BAD_INPUT, "y: byte 0");
	EXPECT(msrep_multiply_many(plan, 0, 2, 1, 2, x, 1 << 20, 0, 2, y, 2, 0), MSREP_BAD_INPUT, "x: byte");
	EXPECT(msrep_multiply_many(plan, 0, 2, 1, 2, x, 2, 0, 2, x, 2, 0), MSREP_BAD_INPUT, "shares memory");

	EXPECT(msrep_for(sys, 10, 1, visit, NULL), MSREP_BAD_HANDLE, "");
	EXPECT(msrep_for(plan, 10, 1, NULL, NULL), MSREP_BAD_INPUT, "f: is a null pointer");
	EXPECT(msrep_for(plan, -1, 1, visit, NULL), MSREP_BAD_INPUT, "n: -1");
	EXPECT(msrep_for(plan, 10, INT64_MIN, visit, NULL), MSREP_OK, "");

	EXPECT(msrep_describe(sys, text, sizeof text, &length), MSREP_BAD_HANDLE, "");
	EXPECT(msrep_describe(plan, text, sizeof text, &length), MSREP_BAD_INPUT, "capacity: 16");
	EXPECT(msrep_describe(plan, NULL, 1000, &length), MSREP_BAD_INPUT, "text: is a null pointer");
	EXPECT(msrep_info(NULL, text, sizeof text, &length), MSREP_BAD_INPUT, "matrix");
	EXPECT(msrep_info(&a, text, sizeof text, &length), MSREP_BAD_INPUT, "capacity");

	msrep_matrix out = MSREP_MATRIX_INIT;
	EXPECT(msrep_read(NULL, &out), MSREP_BAD_INPUT, "path: is a null pointer");
	EXPECT(msrep_read("gen:stencil:n=3", NULL), MSREP_BAD_INPUT, "matrix: is a null pointer");
	EXPECT(msrep_read("/no/such/file.mtx", &out), MSREP_BAD_INPUT, "/no/such/file.mtx");
	out.size = 8;
	EXPECT(msrep_read("gen:stencil:n=3", &out), MSREP_BAD_INPUT, "its size is 8");
	msrep_read_options read = MSREP_READ_OPTIONS_INIT;
	EXPECT(msrep_read_with(NULL, &read, &out), MSREP_BAD_INPUT, "path: is a null pointer");
	read.size = 1;
	out.size = sizeof out;
	EXPECT(msrep_read_with("gen:stencil:n=3", &read, &out), MSREP_BAD_INPUT, "options: its size is 1");
	EXPECT(msrep_matrix_free(NULL), MSREP_OK, "");
	EXPECT(msrep_matrix_free(&a), MSREP_BAD_INPUT, "not of msrep_read");
	EXPECT(msrep_write(NULL, &a), MSREP_BAD_INPUT, "path");
	EXPECT(msrep_write("/tmp/matrix.unknown", &a), MSREP_BAD_INPUT, "matrix.unknown");
	EXPECT(msrep_write("/no/such/folder/a.mtx", &a), MSREP_BAD_INPUT, "/no/such/folder");

	msrep_solve_options o = MSREP_SOLVE_OPTIONS_INIT;
	msrep_solve_result r = MSREP_SOLVE_RESULT_INIT;
#define SOLVE(change, want, says)                                                                                          \
	do {                                                                                                                   \
		o = (msrep_solve_options)MSREP_SOLVE_OPTIONS_INIT;                                                                 \
		r.size = sizeof r;                                                                                                 \
		change;                                                                                                            \
		EXPECT(msrep_solve_with(sys, &a, 2, x, 2, y, &o, &r), want, says);                                                 \
		EXPECT(msrep_plan_solve(plan, 2, x, 2, y, &o, &r), want, says);                                                    \
	} while (0)
	memset(y, 0, sizeof y);
	SOLVE((void)0, MSREP_OK, "");
	SOLVE(o.size = 0, MSREP_BAD_INPUT, "options: its size");
	SOLVE(r.size = 1, MSREP_BAD_INPUT, "result: its size");
	SOLVE(o.method = "sor", MSREP_BAD_INPUT, "method: \"sor\"");
	SOLVE(o.precond = "schwarz", MSREP_BAD_INPUT, "precond: \"schwarz\"");
	SOLVE(o.precond = "block-jacobi:0", MSREP_BAD_INPUT, "block-jacobi:0");
	SOLVE(o.order = "colamd", MSREP_BAD_INPUT, "order: \"colamd\"");
	SOLVE(o.tol = -1, MSREP_BAD_INPUT, "tolerance");
	SOLVE(o.tol = NAN, MSREP_BAD_INPUT, "tolerance");
	SOLVE(o.max_iter = -1, MSREP_BAD_INPUT, "max_iter: -1");
	SOLVE(o.restart = INT64_MAX, MSREP_BAD_INPUT, "restart");
	SOLVE(o.seconds = -1, MSREP_BAD_INPUT, "seconds: -1");
	SOLVE(o.seconds = NAN, MSREP_BAD_INPUT, "seconds: NaN");
	SOLVE(o.max_bytes = -1, MSREP_BAD_INPUT, "-1");
	SOLVE(o.flags = 64, MSREP_BAD_INPUT, "flags: 64");
	o = (msrep_solve_options)MSREP_SOLVE_OPTIONS_INIT;
	o.method = "direct";
	EXPECT(msrep_plan_solve(plan, 2, x, 2, y, &o, NULL), MSREP_BAD_INPUT, "takes no plan");
	EXPECT(msrep_plan_solve(sys, 2, x, 2, y, NULL, NULL), MSREP_BAD_HANDLE, "");
	EXPECT(msrep_plan_solve(plan, 1, x, 2, y, NULL, NULL), MSREP_BAD_INPUT, "b: 1 elements");
	EXPECT(msrep_plan_solve(plan, 2, x, 3, y, NULL, NULL), MSREP_BAD_INPUT, "x: 3 elements");
	EXPECT(msrep_solve_with(plan, &a, 2, x, 2, y, NULL, NULL), MSREP_BAD_HANDLE, "");
	EXPECT(msrep_solve_with(sys, NULL, 2, x, 2, y, NULL, NULL), MSREP_BAD_INPUT, "matrix: is a null pointer");
	EXPECT(msrep_solve_with(sys, &a, 1, x, 2, y, NULL, NULL), MSREP_BAD_INPUT, "b: 1 elements");
	EXPECT(msrep_solve_with(sys, &a, 2, NULL, 2, y, NULL, NULL), MSREP_BAD_INPUT, "b: is a null pointer");
	EXPECT(msrep_solve_with(sys, &a, 2, x, 2, x, NULL, NULL), MSREP_BAD_INPUT, "x: shares memory");
	EXPECT(msrep_solve_with(sys, &a, 2, x, 2, (double *)val, NULL, NULL), MSREP_BAD_INPUT, "memory that can be written");
	EXPECT(msrep_solve_with(sys, &a, 2, (double *)4096, 2, y, NULL, NULL), MSREP_BAD_INPUT, "b: byte 0");
	EXPECT(msrep_stop(12345), MSREP_BAD_HANDLE, "12345");
	EXPECT(msrep_stop(plan), MSREP_OK, "");

	double w[2];
	msrep_eigs_options e = MSREP_EIGS_OPTIONS_INIT;
	EXPECT(msrep_eigs(plan, &a, 1, NULL, w, NULL, NULL, NULL), MSREP_BAD_HANDLE, "");
	EXPECT(msrep_eigs(sys, NULL, 1, NULL, w, NULL, NULL, NULL), MSREP_BAD_INPUT, "matrix");
	EXPECT(msrep_eigs(sys, &a, 1, NULL, NULL, NULL, NULL, NULL), MSREP_BAD_INPUT, "values: is a null pointer");
	EXPECT(msrep_eigs(sys, &a, 0, NULL, w, NULL, NULL, NULL), MSREP_BAD_INPUT, "k: 0");
	EXPECT(msrep_eigs(sys, &a, 3, NULL, w, NULL, NULL, NULL), MSREP_BAD_INPUT, "k: 3");
	EXPECT(msrep_eigs(sys, &a, 2, NULL, w, (double *)4096, NULL, NULL), MSREP_BAD_INPUT, "vectors: byte 0");
	EXPECT(msrep_svds(sys, &a, 2, NULL, w, NULL, (double *)4096, NULL, NULL), MSREP_BAD_INPUT, "v: byte 0");
	EXPECT(msrep_svds(sys, &a, 2, NULL, w, NULL, NULL, (double *)val, NULL), MSREP_BAD_INPUT, "residuals: byte 0");
	e.which = "middle";
	EXPECT(msrep_eigs(sys, &a, 1, &e, w, NULL, NULL, NULL), MSREP_BAD_INPUT, "which: \"middle\"");
	e.which = NULL, e.basis = -1;
	EXPECT(msrep_eigs(sys, &a, 1, &e, w, NULL, NULL, NULL), MSREP_BAD_INPUT, "basis: -1");
	e.basis = 0, e.start = (double *)4096;
	EXPECT(msrep_eigs(sys, &a, 1, &e, w, NULL, NULL, NULL), MSREP_BAD_INPUT, "start: byte 0");
	e.start = NULL, e.flags = 64;
	EXPECT(msrep_svds(sys, &a, 1, &e, w, NULL, NULL, NULL, NULL), MSREP_BAD_INPUT, "flags: 64");

	msrep_pagerank_options g = MSREP_PAGERANK_OPTIONS_INIT;
	EXPECT(msrep_pagerank(plan, &a, 2, w, NULL, NULL), MSREP_BAD_HANDLE, "");
	EXPECT(msrep_pagerank(sys, &a, 3, w, NULL, NULL), MSREP_BAD_INPUT, "ranks: 3 elements");
	EXPECT(msrep_pagerank(sys, &a, 2, NULL, NULL, NULL), MSREP_BAD_INPUT, "ranks: is a null pointer");
	EXPECT(msrep_pagerank(sys, NULL, 2, w, NULL, NULL), MSREP_BAD_INPUT, "matrix");
	g.damping = 2;
	EXPECT(msrep_pagerank(sys, &a, 2, w, &g, NULL), MSREP_BAD_INPUT, "damping: 2");
	g.damping = 0, g.teleport = (double[]){-1, 2};
	EXPECT(msrep_pagerank(sys, &a, 2, w, &g, NULL), MSREP_BAD_INPUT, "teleport: node 0");
	g.teleport = NULL, g.dangling = "nowhere";
	EXPECT(msrep_pagerank(sys, &a, 2, w, &g, NULL), MSREP_BAD_INPUT, "dangling: \"nowhere\"");
	g.dangling = NULL, g.flags = MSREP_BORROW;
	EXPECT(msrep_pagerank(sys, &a, 2, w, &g, NULL), MSREP_BAD_INPUT, "flags: 2");

	msrep_factors f = 1;
	EXPECT(msrep_factor(plan, &a, NULL, NULL, &f), MSREP_BAD_HANDLE, "");
	EXPECT(msrep_factor(sys, NULL, NULL, NULL, &f), MSREP_BAD_INPUT, "matrix");
	EXPECT(msrep_factor(sys, &a, NULL, NULL, NULL), MSREP_BAD_INPUT, "factors");
	EXPECT(msrep_factor(sys, &a, "qr", NULL, &f), MSREP_BAD_INPUT, "kind: \"qr\"");
	EXPECT(msrep_factor(sys, &a, NULL, "best", &f), MSREP_BAD_INPUT, "order: \"best\"");
	a.indices = same;
	EXPECT(msrep_factor(sys, &a, NULL, NULL, &f), MSREP_BAD_INPUT, "singular");
	EXPECT(msrep_solve_with(sys, &a, 2, x, 2, y, NULL, &r), MSREP_NOT_CONVERGED, "singular");
	a.indices = idx, a.values = (double[]){-1, 1};
	EXPECT(msrep_factor(sys, &a, "cholesky", NULL, &f), MSREP_BAD_INPUT, "positive definite");
	if (f != 0)
		bad = 1;
	EXPECT(msrep_factor(sys, &a, NULL, NULL, &f), MSREP_OK, "");
	EXPECT(msrep_factor_solve(plan, 2, x, y), MSREP_BAD_HANDLE, "");
	EXPECT(msrep_factor_solve(f, 3, x, y), MSREP_BAD_INPUT, "b: 3 elements");
	EXPECT(msrep_factor_solve(f, 2, x, x), MSREP_BAD_INPUT, "shares memory");
	EXPECT(msrep_factor_solve(f, 2, x, (double *)val), MSREP_BAD_INPUT, "memory that can be written");
	EXPECT(msrep_factor_update(f, 3, val), MSREP_BAD_INPUT, "val: 3 values");
	EXPECT(msrep_factor_update(f, 2, (double *)4096), MSREP_BAD_INPUT, "val: byte 0");
	EXPECT(msrep_factor_update(f, 2, val), MSREP_OK, "");
	EXPECT(msrep_factor_solve(f, 2, x, y), MSREP_OK, "");
	if (y[0] != 0.5 || fabs(y[1] - 1.0 / 3) > 1e-15)
		bad = 1;
}

int main(void) {
	const int64_t many = INT64_C(1) << 44; /* more elements than any memory holds */
	int64_t ptr[] = {0, 1, 2}, falls[] = {0, 3, 2}, ends[] = {0, 1, many};
	int32_t idx[] = {0, 1}, outside[] = {0, 7};
	double val[] = {2, 3}, x[] = {1, 1}, y[2], b[] = {1, 1};
	msrep_system sys, other;
	msrep_plan plan, none;

	EXPECT(msrep_open("gpu:9", 0, &sys), MSREP_BAD_INPUT, "gpu");
	EXPECT(msrep_open("cpu:1", -1, &sys), MSREP_BAD_INPUT, "threads");
	EXPECT(msrep_open("cpu:1", 0, NULL), MSREP_BAD_INPUT, "system: is a null pointer");
	EXPECT(msrep_open(NULL, 0, &other), MSREP_OK, "");
	EXPECT(msrep_open("cpu:1", 1, &sys), MSREP_OK, "");

	EXPECT(msrep_plan_csr(12345, 2, 2, 2, ptr, idx, val, 0, &none), MSREP_BAD_HANDLE, "12345");
	EXPECT(msrep_plan_csr(sys, 2, 2, 2, ptr, idx, val, 0, NULL), MSREP_BAD_INPUT, "plan");
	EXPECT(msrep_plan_csr(sys, 2, 2, 2, NULL, idx, val, 0, &none), MSREP_BAD_INPUT, "row_ptr: is a null pointer");
	EXPECT(msrep_plan_csr(sys, 2, 2, 2, ptr, NULL, val, 0, &none), MSREP_BAD_INPUT, "col_idx");
	EXPECT(msrep_plan_csr(sys, 2, 2, 2, ptr, idx, NULL, 0, &none), MSREP_BAD_INPUT, "val");
	EXPECT(msrep_plan_csr(sys, -2, 2, 2, ptr, idx, val, 0, &none), MSREP_BAD_INPUT, "-2 x 2");
	EXPECT(msrep_plan_csr(sys, 2, 2, -2, ptr, idx, val, 0, &none), MSREP_BAD_INPUT, "col_idx");
	EXPECT(msrep_plan_csr(sys, 2, 2, 1, ptr, idx, val, 0, &none), MSREP_BAD_INPUT, "");
	EXPECT(msrep_plan_csr(sys, 2, 2, many, ptr, idx, val, 0, &none), MSREP_BAD_INPUT, "row_ptr: ends with 2");
	EXPECT(msrep_plan_csr(sys, 2, 2, many, ends, idx, val, 0, &none), MSREP_BAD_INPUT, "matrix: a copy takes");
	EXPECT(msrep_plan_csr(sys, 2, 2, 2, (int64_t *)4096, idx, val, 0, &none), MSREP_BAD_INPUT, "is not in memory that can be read");
	EXPECT(msrep_plan_csr(sys, 2, 2, 2, ptr, (int32_t *)4096, val, 0, &none), MSREP_BAD_INPUT, "is not in memory that can be read");
	EXPECT(msrep_plan_csr(sys, 2, 2, 2, (int64_t[]){1, 2, 3}, (int32_t[]){1, 2}, val, 0, &none), MSREP_BAD_INPUT, "must count from 0, not from 1");
	EXPECT(msrep_plan_csr(sys, 2, 2, 2, (int64_t[]){-1, 1, 2}, idx, val, 0, &none), MSREP_BAD_INPUT, "row_ptr: begins with -1");
	EXPECT(msrep_plan_csr(sys, 2, 2, 2, falls, idx, val, 0, &none), MSREP_BAD_INPUT, "");
	EXPECT(msrep_plan_csr(sys, 2, 2, 2, ptr, outside, val, 0, &none), MSREP_BAD_INPUT, "");
	EXPECT(msrep_plan_csr(sys, 2, 2, 2, ptr, idx, val, 64, &none), MSREP_BAD_INPUT, "flags");
	EXPECT(msrep_plan_csr(sys, 2, 2, 2, ptr, idx, val, 0, &plan), MSREP_OK, "");

	EXPECT(msrep_multiply(0, 0, 1, 2, x, 0, 2, y), MSREP_BAD_HANDLE, "0");
	EXPECT(msrep_multiply(sys, 0, 1, 2, x, 0, 2, y), MSREP_BAD_HANDLE, "");
	EXPECT(msrep_multiply(plan, 0, 1, 3, x, 0, 2, y), MSREP_BAD_INPUT, "x: 3 elements");
	EXPECT(msrep_multiply(plan, 0, 1, 2, x, 0, 1, y), MSREP_BAD_INPUT, "y: 1 elements");
	EXPECT(msrep_multiply(plan, 0, 1, 2, NULL, 0, 2, y), MSREP_BAD_INPUT, "x: is a null pointer");
	EXPECT(msrep_multiply(plan, 0, 1, 2, x, 0, 2, NULL), MSREP_BAD_INPUT, "y: is a null pointer");
	EXPECT(msrep_multiply(plan, 0, 1, 2, x, 0, 2, x), MSREP_BAD_INPUT, "shares memory");
	EXPECT(msrep_multiply(plan, 0, 1, 2, (double *)((char *)x + 1), 0, 2, y), MSREP_BAD_INPUT, "multiple of 8");
	EXPECT(msrep_multiply(plan, 0, 1, many, x, 0, 2, y), MSREP_BAD_INPUT, "x: 17592186044416 elements");
	EXPECT(msrep_multiply(plan, 0, 1, 2, x, 0, many, y), MSREP_BAD_INPUT, "y: 17592186044416 elements");
	EXPECT(msrep_multiply(plan, 0, 1, INT64_MIN, x, 0, 2, y), MSREP_BAD_INPUT, "no length");
	EXPECT(msrep_multiply(plan, 0, 1, INT64_MAX, x, 0, 2, y), MSREP_BAD_INPUT, "no length");

	/* Memory that is not mapped or is read-only: the plan stays usable. */
	EXPECT(msrep_multiply(plan, 0, 1, 2, (double *)4096, 0, 2, y), MSREP_BAD_INPUT, "x: byte 0 of its 16 is not in memory that can be read");
	EXPECT(msrep_multiply(plan, 0, 1, 2, x, 0, 2, (double *)4096), MSREP_BAD_INPUT, "y: byte 0 of its 16 is not in memory that can be read");
	EXPECT(msrep_multiply(plan, 0, 1, 2, x, 0, 2, (double *)constant), MSREP_BAD_INPUT, "y: byte 0 of its 16 is not in memory that can be written");
	EXPECT(msrep_solve(plan, MSREP_CG, 0, 2, (double *)4096, y, 0, 0, NULL, NULL), MSREP_BAD_INPUT, "b: byte 0");
	EXPECT(msrep_solve(plan, MSREP_CG, 0, 2, b, (double *)4096, 0, 0, NULL, NULL), MSREP_BAD_INPUT, "x: byte 0");
	EXPECT(msrep_multiply(plan, 0, 1, 2, x, 0, 2, y), MSREP_OK, "");
	if (y[0] != 2 || y[1] != 3)
		bad = 1;

	matrices(sys);
	others(sys, plan);

	EXPECT(msrep_update(plan, 3, val), MSREP_BAD_INPUT, "val: 3 values");
	EXPECT(msrep_update(plan, many, val), MSREP_BAD_INPUT, "val: 17592186044416 values");
	EXPECT(msrep_update(plan, 2, (double *)4096), MSREP_BAD_INPUT, "is not in memory that can be read");
	EXPECT(msrep_update(plan, 2, NULL), MSREP_BAD_INPUT, "val");
	EXPECT(msrep_update(sys, 2, val), MSREP_BAD_HANDLE, "");

	EXPECT(msrep_solve(plan, 9, 0, 2, b, x, 0, 0, NULL, NULL), MSREP_BAD_INPUT, "method");
	EXPECT(msrep_solve(plan, MSREP_CG, 9, 2, b, x, 0, 0, NULL, NULL), MSREP_BAD_INPUT, "precond");
	EXPECT(msrep_solve(plan, MSREP_CG, 0, 1, b, x, 0, 0, NULL, NULL), MSREP_BAD_INPUT, "b: 1 elements");
	EXPECT(msrep_solve(plan, MSREP_CG, 0, many, b, x, 0, 0, NULL, NULL), MSREP_BAD_INPUT, "b: 17592186044416 elements");
	EXPECT(msrep_solve(plan, MSREP_CG, 0, 2, b, b, 0, 0, NULL, NULL), MSREP_BAD_INPUT, "shares memory");
	EXPECT(msrep_solve(plan, MSREP_CG, 0, 2, NULL, x, 0, 0, NULL, NULL), MSREP_BAD_INPUT, "b: is a null pointer");
	EXPECT(msrep_solve(plan, MSREP_CG, 0, 2, b, x, -1, 0, NULL, NULL), MSREP_BAD_INPUT, "tolerance");
	EXPECT(msrep_solve(plan, MSREP_CG, 0, 2, b, x, NAN, 0, NULL, NULL), MSREP_BAD_INPUT, "tolerance");
	EXPECT(msrep_solve(plan, MSREP_CG, 0, 2, b, x, 1e-15, 1, NULL, NULL), MSREP_NOT_CONVERGED, "not converged");
	EXPECT(msrep_solve(plan, MSREP_GMRES, MSREP_JACOBI, 2, b, x, 0, 0, NULL, NULL), MSREP_OK, "");
	if (fabs(x[0] - 0.5) > 1e-12 || fabs(x[1] - 1.0 / 3) > 1e-12)
		bad = 1;

	float val1[] = {2, 4}, x1[] = {1, 1}, y1[2];
	msrep_plan single;
	EXPECT(msrep_plan_csr_single(sys, 2, 2, 2, ptr, idx, NULL, 0, &single), MSREP_BAD_INPUT, "val");
	EXPECT(msrep_plan_csr_single(sys, 2, 2, 2, ptr, idx, val1, 0, &single), MSREP_OK, "");
	EXPECT(msrep_multiply(single, 0, 1, 2, x, 0, 2, y), MSREP_BAD_HANDLE, "");
	EXPECT(msrep_multiply_single(plan, 0, 1, 2, x1, 0, 2, y1), MSREP_BAD_HANDLE, "");
	EXPECT(msrep_update_single(single, 1, val1), MSREP_BAD_INPUT, "val: 1 values");
	EXPECT(msrep_update_single(single, 2, (float[]){2, 8}), MSREP_OK, "");
	EXPECT(msrep_multiply_single(single, 0, 1, 2, (float *)((char *)x1 + 2), 0, 2, y1), MSREP_BAD_INPUT, "multiple of 4");
	EXPECT(msrep_multiply_single(single, 1, 0.5, 2, x1, 0, 2, y1), MSREP_OK, "");
	x[0] = x[1] = 0;
	EXPECT(msrep_solve(single, MSREP_CG, MSREP_JACOBI, 2, b, x, 1e-6, 0, NULL, NULL), MSREP_OK, "");
	if (y1[0] != 1 || y1[1] != 4 || fabs(x[0] - 0.5) > 1e-6 || fabs(x[1] - 0.125) > 1e-6)
		bad = 1;

	EXPECT(msrep_close(plan), MSREP_OK, "");
	EXPECT(msrep_close(plan), MSREP_BAD_HANDLE, "closed");
	EXPECT(msrep_multiply(plan, 0, 1, 2, x, 0, 2, y), MSREP_BAD_HANDLE, "closed");
	EXPECT(msrep_plan_csr(sys, 0, 0, 0, ptr, NULL, NULL, 0, &plan), MSREP_OK, "");
	EXPECT(msrep_multiply(plan, 0, 1, 0, NULL, 0, 0, NULL), MSREP_OK, "");
	EXPECT(msrep_close(sys), MSREP_OK, "");
	EXPECT(msrep_close(plan), MSREP_BAD_HANDLE, ""); /* closed with its system */
	EXPECT(msrep_close(single), MSREP_BAD_HANDLE, "");
	EXPECT(msrep_close(sys), MSREP_BAD_HANDLE, "");
	EXPECT(msrep_close(other), MSREP_OK, "");
	if (!bad)
		puts("misuse: every wrong call returned its status");
	return bad;
}
