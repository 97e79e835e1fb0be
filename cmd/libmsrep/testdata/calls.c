/* Checks msrep_for, solves, factors, files and descriptions, also from several threads at once, against known results. */
#include <math.h>
#include <msrep.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void must(msrep_status status, int line) {
	if (status != MSREP_OK) {
		fprintf(stderr, "line %d: status %d: %s\n", line, status, msrep_last_error());
		exit(1);
	}
}
#define MUST(call) must(call, __LINE__)
#define CHECK(what)                                                                                                        \
	do {                                                                                                                   \
		if (!(what)) {                                                                                                     \
			fprintf(stderr, "line %d: not true: %s\n", __LINE__, #what);                                                   \
			exit(1);                                                                                                       \
		}                                                                                                                  \
	} while (0)

/* fortran/msrep.f90 has these sizes; its open options have no run. */
_Static_assert(sizeof(msrep_matrix) == 80 && offsetof(msrep_open_options, run) == 24 && sizeof(msrep_plan_options) == 64 && sizeof(msrep_read_options) == 24, "sizes");
_Static_assert(sizeof(msrep_solve_options) == 96 && sizeof(msrep_solve_result) == 136, "sizes");
_Static_assert(sizeof(msrep_eigs_options) == 96 && sizeof(msrep_eigs_result) == 48, "sizes");
_Static_assert(sizeof(msrep_pagerank_options) == 80 && sizeof(msrep_pagerank_result) == 40, "sizes");

enum { side = 40, n = side * side };
static msrep_system sys;
static msrep_matrix grid; /* owned by the library */
static msrep_plan plan;
static double b[n];

static double residual(const double *x) {
	double y[n], r = 0, bb = 0;
	MUST(msrep_multiply(plan, 0, 1, n, x, 0, n, y));
	for (int i = 0; i < n; i++)
		r += (b[i] - y[i]) * (b[i] - y[i]), bb += b[i] * b[i];
	return sqrt(r / bb);
}

static void visit(int64_t lo, int64_t hi, void *arg) {
	for (int64_t i = lo; i < hi; i++)
		((unsigned char *)arg)[i]++;
}

/* Counts the iterations of a solve, and stops it where *limit is reached. */
struct history {
	int64_t count, last, limit;
	double residual;
};
static int record(int64_t iteration, double res, void *arg) {
	struct history *h = arg;
	if (iteration > h->last)
		h->count++;
	h->last = iteration;
	h->residual = res;
	return h->limit && iteration >= h->limit;
}

static void ranges(void) {
	enum { many = 1000003 };
	unsigned char *seen = calloc(many, 1);
	MUST(msrep_for(plan, many, 1000, visit, seen));
	MUST(msrep_for(plan, 0, 1000, visit, seen));
	MUST(msrep_for(plan, 1, 0, visit, seen));
	for (int i = 0; i < many; i++)
		CHECK(seen[i] == 1 + (i == 0));
	free(seen);
}

static void solves(void) {
	const char *methods[] = {NULL, "auto", "cg", "minres", "bicgstab", "gmres", "fgmres", "idr", "lsmr", "direct"};
	for (unsigned k = 0; k < sizeof methods / sizeof *methods; k++) {
		msrep_solve_options o = MSREP_SOLVE_OPTIONS_INIT;
		msrep_solve_result r = MSREP_SOLVE_RESULT_INIT;
		struct history h = {0};
		o.method = methods[k], o.tol = 1e-9, o.progress = record, o.arg = &h;
		double x[n] = {0};
		MUST(msrep_solve_with(sys, &grid, n, b, n, x, &o, &r));
		CHECK(residual(x) < 1.2e-9 && r.residual < 1.2e-9 && r.iterations > 0 && r.seconds > 0 && r.method[0]);
		CHECK(k < 2 || strcmp(r.method, methods[k]) == 0);
		CHECK(k < 2 || k == 9 || (h.count == r.iterations && h.last == r.iterations));
		if (k >= 2 && k < 9) {
			memset(x, 0, sizeof x);
			o.progress = NULL, o.precond = k == 8 ? NULL : "jacobi";
			MUST(msrep_plan_solve(plan, n, b, n, x, &o, &r));
			CHECK(residual(x) < 1.2e-9 && strcmp(r.method, methods[k]) == 0);
		}
	}
	msrep_solve_options o = MSREP_SOLVE_OPTIONS_INIT;
	msrep_solve_result r = MSREP_SOLVE_RESULT_INIT;
	double x[n] = {0};
	for (const char **p = (const char *[]){"block-jacobi:10", "ilu", "ic", "ilut", "amg", "chebyshev", NULL}; *p; p++) {
		memset(x, 0, sizeof x);
		o.precond = *p, o.method = strcmp(*p, "ic") == 0 ? "cg" : NULL, o.restart = 20;
		MUST(msrep_plan_solve(plan, n, b, n, x, &o, &r));
		CHECK(residual(x) < 1.2e-8 && strcmp(r.precond, *p) == 0);
	}
	for (int with_plan = 0; with_plan <= 1; with_plan++) { /* a stop leaves the last iterate */
		struct history h = {.limit = 30};
		msrep_solve_options stop = MSREP_SOLVE_OPTIONS_INIT;
		stop.method = "cg", stop.tol = 1e-14, stop.progress = record, stop.arg = &h;
		memset(x, 0, sizeof x);
		msrep_status s = with_plan ? msrep_plan_solve(plan, n, b, n, x, &stop, &r) : msrep_solve_with(sys, &grid, n, b, n, x, &stop, &r);
		if (s != MSREP_OK) { /* a small system may be solved before its callback is heard */
			CHECK(s == MSREP_STOPPED && strstr(msrep_last_error(), "progress"));
			CHECK(r.iterations >= 30 && residual(x) < 0.9);
		}
	}
	o.method = "cg", o.precond = NULL, o.max_iter = 3;
	memset(x, 0, sizeof x);
	CHECK(msrep_plan_solve(plan, n, b, n, x, &o, &r) == MSREP_NOT_CONVERGED && r.iterations == 3 && residual(x) < 1);
	o.max_iter = 0, o.seconds = 1e-9;
	memset(x, 0, sizeof x);
	CHECK(msrep_plan_solve(plan, n, b, n, x, &o, &r) == MSREP_NOT_CONVERGED && strstr(msrep_last_error(), "time limit of 1ns"));
	CHECK(msrep_solve_with(sys, &grid, n, b, n, x, &o, &r) == MSREP_NOT_CONVERGED && strstr(msrep_last_error(), "time limit of 1ns"));
	o.seconds = 0, o.tol = 1e-9, o.flags = MSREP_DETERMINISTIC;
	CHECK(msrep_plan_solve(plan, n, b, n, x, &o, &r) == MSREP_BAD_INPUT && strstr(msrep_last_error(), "MSREP_DETERMINISTIC"));
	MUST(msrep_solve_with(sys, &grid, n, b, n, x, &o, &r));
}

static void factors(void) {
	const char *kinds[] = {NULL, "lu", "cholesky"};
	for (int k = 0; k < 3; k++) {
		msrep_factors f;
		double x[n];
		MUST(msrep_factor(sys, &grid, kinds[k], k == 1 ? "amd" : NULL, &f));
		MUST(msrep_factor_solve(f, n, b, x));
		CHECK(residual(x) < 1e-12);
		double *val = malloc(sizeof *val * (size_t)grid.nnz), y[n];
		for (int64_t i = 0; i < grid.nnz; i++)
			val[i] = 4 * ((const double *)grid.values)[i];
		MUST(msrep_factor_update(f, grid.nnz, val));
		memset(val, 0, sizeof *val * (size_t)grid.nnz); /* copied */
		MUST(msrep_factor_solve(f, n, b, y));
		for (int i = 0; i < n; i++)
			CHECK(fabs(4 * y[i] - x[i]) < 1e-9);
		free(val);
		CHECK(msrep_multiply(f, 0, 1, n, b, 0, n, y) == MSREP_BAD_HANDLE);
		MUST(msrep_close(f));
		CHECK(msrep_factor_solve(f, n, b, x) == MSREP_BAD_HANDLE);
	}
}

static void eigenvalues(void) {
	enum { k = 4 };
	const double pi = acos(-1), least = 4 - 4 * cos(pi / (side + 1)), largest = 4 + 4 * cos(pi / (side + 1));
	const char *which[] = {NULL, "largest", "smallest", "magnitude", "near"};
	static double vectors[k * n], u[k * n], v[k * n], y[n];
	for (int w = 0; w < 5; w++) {
		struct history h = {0};
		msrep_eigs_options o = MSREP_EIGS_OPTIONS_INIT;
		msrep_eigs_result r = MSREP_EIGS_RESULT_INIT;
		o.which = which[w], o.tol = 1e-9, o.seed = 3, o.progress = record, o.arg = &h, o.sigma = 0.01;
		double values[k], residuals[k];
		MUST(msrep_eigs(sys, &grid, k, &o, values, vectors, residuals, &r));
		CHECK(r.count == k && r.iterations > 0 && r.products > 0 && fabs(r.norm - largest) < (w == 4 ? 1 : 0.2) && h.count > 0);
		CHECK(fabs(values[0] - (w == 2 || w == 4 ? least : largest)) < 1e-8);
		for (int j = 0; j < k; j++) {
			MUST(msrep_multiply(plan, 0, 1, n, vectors + j * n, 0, n, y));
			for (int i = 0; i < n; i++)
				CHECK(fabs(y[i] - values[j] * vectors[j * n + i]) < 1e-7);
			CHECK(residuals[j] < 1e-8);
		}
	}
	double values[k];
	MUST(msrep_svds(sys, &grid, k, NULL, values, u, v, NULL, NULL));
	CHECK(fabs(values[0] - largest) < 1e-8 && values[0] > values[k - 1]);
	MUST(msrep_multiply(plan, 0, 1, n, v, 0, n, y));
	for (int i = 0; i < n; i++)
		CHECK(fabs(y[i] - values[0] * u[i]) < 1e-7);
	struct history h = {.limit = 1};
	msrep_eigs_options o = MSREP_EIGS_OPTIONS_INIT;
	o.tol = 1e-13, o.progress = record, o.arg = &h;
	msrep_matrix large = MSREP_MATRIX_INIT;
	MUST(msrep_read("gen:stencil:n=300", &large));
	o.which = "smallest";
	CHECK(msrep_eigs(sys, &large, k, &o, values, NULL, NULL, NULL) == MSREP_STOPPED);
	o.max_iter = 50, o.progress = NULL;
	msrep_eigs_result r = MSREP_EIGS_RESULT_INIT;
	CHECK(msrep_eigs(sys, &large, k, &o, values, NULL, NULL, &r) == MSREP_NOT_CONVERGED && r.products >= 50);
	MUST(msrep_matrix_free(&large));
}

/* PageRank of a graph by plain loops, for 200 iterations. */
static void rank_plainly(const double *weight, const double *teleport, double *p, int nodes) {
	double next[16];
	for (int i = 0; i < nodes; i++)
		p[i] = 1.0 / nodes;
	for (int k = 0; k < 200; k++) {
		double dangling = 0;
		memset(next, 0, sizeof next);
		for (int i = 0; i < nodes; i++) {
			double sum = 0;
			for (int j = 0; j < nodes; j++)
				sum += weight[i * nodes + j];
			if (sum == 0)
				dangling += p[i];
			for (int j = 0; j < nodes && sum > 0; j++)
				next[j] += 0.85 * p[i] * weight[i * nodes + j] / sum;
		}
		for (int j = 0; j < nodes; j++)
			p[j] = next[j] + (0.85 * dangling + 0.15) * (teleport ? teleport[j] : 1.0 / nodes);
	}
}

static void pagerank(void) {
	enum { nodes = 5 };
	const int from[] = {1, 1, 2, 3, 3, 4}, to[] = {2, 3, 3, 1, 4, 5}; /* node 5 has no links */
	const double weights[] = {1, 3, 2, 5, 1, 1}, teleport[nodes] = {0, 0.25, 0, 0, 0.75};
	msrep_matrix a = {sizeof a, nodes, nodes, 6, MSREP_COO, 0, 32, 64, 1, from, to, weights};
	for (int weighted = 0; weighted <= 1; weighted++)
		for (int personal = 0; personal <= 1; personal++) {
			double dense[nodes * nodes] = {0}, want[nodes], got[nodes], start[nodes] = {1, 1, 1, 1, 1};
			for (int k = 0; k < 6; k++)
				dense[(from[k] - 1) * nodes + to[k] - 1] = weighted ? weights[k] : 1;
			rank_plainly(dense, personal ? teleport : NULL, want, nodes);
			msrep_pagerank_options o = MSREP_PAGERANK_OPTIONS_INIT;
			msrep_pagerank_result r = MSREP_PAGERANK_RESULT_INIT;
			o.tol = 1e-13, o.weighted = weighted, o.teleport = personal ? teleport : NULL, o.start = start;
			MUST(msrep_pagerank(sys, &a, nodes, got, &o, &r));
			for (int i = 0; i < nodes; i++)
				CHECK(fabs(got[i] - want[i]) < 1e-12);
			CHECK(r.dangling == 1 && r.iterations > 5 && r.residual < 1e-13);
			o.max_iter = 2;
			CHECK(msrep_pagerank(sys, &a, nodes, got, &o, &r) == MSREP_NOT_CONVERGED && r.iterations == 2);
		}
}

static void files(const char *folder) {
	for (const char **ext = (const char *[]){"mtx", "mtx.gz", "npz", "msr", "rua", NULL}; *ext; ext++) {
		char path[1000];
		snprintf(path, sizeof path, "%s/matrix.%s", folder, *ext);
		MUST(msrep_write(path, &grid));
		msrep_matrix back = MSREP_MATRIX_INIT;
		MUST(msrep_read(path, &back));
		CHECK(back.rows == n && back.cols == n && back.nnz == grid.nnz && back.layout == MSREP_CSR && back.base == 0);
		CHECK(memcmp(back.pointers, grid.pointers, 8 * (n + 1)) == 0 && memcmp(back.indices, grid.indices, 4 * (size_t)grid.nnz) == 0);
		CHECK(memcmp(back.values, grid.values, 8 * (size_t)grid.nnz) == 0);
		MUST(msrep_matrix_free(&back));
		CHECK(back.pointers == NULL && back.nnz == 0 && back.size == sizeof back);
		MUST(msrep_matrix_free(&back));
	}
}

static void texts(void) {
	size_t need = 0, again = 0;
	MUST(msrep_describe(plan, NULL, 0, &need));
	char *text = malloc(need);
	CHECK(msrep_describe(plan, text, need - 1, &again) == MSREP_BAD_INPUT && again == need);
	MUST(msrep_describe(plan, text, need, &again));
	CHECK(strlen(text) == need - 1 && strstr(text, "\"rows\":1600,") && strstr(text, "\"values\":\"float64\"") && strstr(text, "\"name\":\"cpu:0\""));
	free(text);
	MUST(msrep_info(&grid, NULL, 0, &need));
	text = malloc(need);
	MUST(msrep_info(&grid, text, need, NULL));
	CHECK(strstr(text, "\"bandwidth\":40,") && strstr(text, "\"recommended\":"));
	free(text);
}

static void *together(void *arg) {
	(void)arg;
	for (int k = 0; k < 20; k++) {
		double x[n] = {0};
		msrep_solve_options o = MSREP_SOLVE_OPTIONS_INIT;
		struct history h = {0};
		o.method = "cg", o.progress = record, o.arg = &h;
		MUST(msrep_plan_solve(plan, n, b, n, x, &o, NULL));
		CHECK(residual(x) < 1.2e-8 && h.count > 10);
		msrep_factors f;
		MUST(msrep_factor(sys, &grid, "cholesky", NULL, &f));
		MUST(msrep_factor_solve(f, n, b, x));
		CHECK(residual(x) < 1e-12);
		MUST(msrep_close(f));
		CHECK(msrep_close(f) == MSREP_BAD_HANDLE);
	}
	return NULL;
}

static void *close_soon(void *arg) {
	struct timespec wait = {0, 100000000};
	nanosleep(&wait, NULL);
	MUST(msrep_close(*(msrep_system *)arg));
	return NULL;
}

/* A system that is closed ends its solves. */
static void closes(void) {
	msrep_system other;
	msrep_matrix large = MSREP_MATRIX_INIT;
	MUST(msrep_open("cpu:1", 1, &other));
	MUST(msrep_read("gen:stencil:dims=3,n=70", &large));
	double *lb = malloc(sizeof *lb * (size_t)large.rows), *x = calloc((size_t)large.rows, sizeof *x);
	for (int64_t i = 0; i < large.rows; i++)
		lb[i] = 1;
	msrep_solve_options o = MSREP_SOLVE_OPTIONS_INIT;
	o.method = "direct"; /* takes some 20 s */
	pthread_t closer;
	pthread_create(&closer, NULL, close_soon, &other);
	CHECK(msrep_solve_with(other, &large, large.rows, lb, large.rows, x, &o, NULL) == MSREP_BAD_HANDLE);
	CHECK(strstr(msrep_last_error(), "was closed during the call"));
	pthread_join(closer, NULL);
	MUST(msrep_matrix_free(&large));
	free(lb);
	free(x);
}

/* least_squares solves [1; 1] x = [0; 2], whose residual is least for x = 1, and a singular square system. */
static void least_squares(void) {
	const int64_t rows[] = {0, 1, 2};
	const int32_t columns[] = {0, 0};
	const double ones[] = {1, 1}, rhs[] = {0, 2};
	msrep_matrix a = MSREP_MATRIX_INIT;
	a.rows = a.nnz = 2, a.cols = 1, a.pointers = rows, a.indices = columns, a.values = ones;
	msrep_solve_options o = MSREP_SOLVE_OPTIONS_INIT;
	msrep_solve_result r = MSREP_SOLVE_RESULT_INIT;
	double y[2] = {0};
	CHECK(msrep_solve_with(sys, &a, 2, rhs, 1, y, &o, &r) == MSREP_NOT_CONVERGED && r.least_squares == 1 && fabs(y[0] - 1) < 1e-12);
	msrep_plan tall_plan;
	MUST(msrep_plan_matrix(sys, &a, NULL, &tall_plan));
	o.method = "lsmr", y[0] = 0;
	MUST(msrep_plan_solve(tall_plan, 2, rhs, 1, y, &o, &r));
	CHECK(r.least_squares == 1 && fabs(y[0] - 1) < 1e-12);
	MUST(msrep_close(tall_plan));
	a.cols = 2, y[0] = 0;
	CHECK(msrep_solve_with(sys, &a, 2, rhs, 2, y, &o, &r) == MSREP_NOT_CONVERGED);
	CHECK(r.least_squares == 1 && fabs(y[0] - 1) < 1e-12 && y[1] == 0);
	o.method = NULL;
	const double ones2[] = {1, 1};
	memset(y, 0, sizeof y);
	a.cols = 1;
	MUST(msrep_solve_with(sys, &a, 2, ones2, 1, y, &o, &r));
	CHECK(r.least_squares == 0 && fabs(y[0] - 1) < 1e-7);
	r.size = 128, r.least_squares = 7; /* a program with an older header */
	MUST(msrep_solve_with(sys, &a, 2, ones2, 1, y, &o, &r));
	CHECK(r.least_squares == 7);
}

int main(int argc, char **argv) {
	MUST(msrep_open("cpu:1", 0, &sys));
	grid = (msrep_matrix)MSREP_MATRIX_INIT;
	MUST(msrep_read("gen:stencil:n=40", &grid));
	msrep_plan_options o = MSREP_PLAN_OPTIONS_INIT;
	o.flags = MSREP_BORROW;
	MUST(msrep_plan_matrix(sys, &grid, &o, &plan));
	for (int i = 0; i < n; i++)
		b[i] = sin(i + 1.0);
	ranges();
	solves();
	least_squares();
	factors();
	eigenvalues();
	pagerank();
	files(argc > 1 ? argv[1] : ".");
	texts();
	closes();
	pthread_t threads[4];
	for (int k = 0; k < 4; k++)
		pthread_create(&threads[k], NULL, together, NULL);
	for (int k = 0; k < 4; k++)
		pthread_join(threads[k], NULL);
	MUST(msrep_close(sys));
	MUST(msrep_matrix_free(&grid));
	puts("calls: solves, factors, files, ranges and threads give the known results");
	return 0;
}
