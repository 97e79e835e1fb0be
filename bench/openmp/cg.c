/* cg.c - conjugate gradients written by hand around msrep_multiply, beside msrep_solve.
 *
 *     cg [K [ROUNDS [THREADS]]]
 *
 * The system is the 5-point Laplacian of a K x K grid with b of ones (default 300, 5 rounds, 2 threads). In each round
 * each variant makes 20 runs of 50 iterations (10 of large systems): the speed of a machine changes, so that only times
 * of turns can be compared. On a machine that has other work, the lower quartile says more than the median. A variant
 * is where the passes over vectors run, and how the System was opened:
 *
 *     solve         msrep_solve
 *     openmp        products of a System opened without flags, passes by OpenMP
 *     openmp,yield  products of a System opened with MSREP_YIELD, passes by OpenMP
 *     openmp,run    products by OpenMP as well, with MSREP_RUN_OPENMP as msrep_open_options.run
 *     msrep_for     products of a System opened without flags, passes by msrep_for
 *
 * The exit status is 1 if a solution has a relative residual above 1e-7. Timings do not fail.
 */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <msrep.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const double TOL = 1e-8;

static void check(msrep_status status, const char *call)
{
	if (status != MSREP_OK) {
		fprintf(stderr, "cg: %s: %s\n", call, msrep_last_error());
		exit(1);
	}
}

static double *vector(int64_t n)
{
	double *v = calloc((size_t)n, sizeof *v);
	if (!v) {
		fprintf(stderr, "cg: no memory for a vector of %lld elements\n", (long long)n);
		exit(1);
	}
	return v;
}

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

enum { BLOCK = 4096 }; /* elements that one item of msrep_for takes */

/* The vectors of CG, of n elements. sums has an element for each block of them. */
typedef struct {
	int64_t n;
	double *x, *r, *p, *q, *sums;
	double alpha, beta;
} state;

static void plan_of(msrep_system system, int64_t k, msrep_plan *plan)
{
	int64_t n = k * k, nnz = 0;
	int64_t *ptr = malloc(((size_t)n + 1) * sizeof *ptr);
	int32_t *col = malloc((size_t)n * 5 * sizeof *col);
	double *val = vector(5 * n);
	if (!ptr || !col) {
		fprintf(stderr, "cg: no memory for a matrix of %lld rows\n", (long long)n);
		exit(1);
	}
	for (int64_t i = 0; i < n; i++) {
		const int64_t at[5] = {i - k, i - 1, i, i + 1, i + k};
		const int is[5] = {i >= k, i % k > 0, 1, i % k < k - 1, i < n - k};
		ptr[i] = nnz;
		for (int e = 0; e < 5; e++) {
			if (is[e]) {
				col[nnz] = (int32_t)at[e];
				val[nnz++] = e == 2 ? 4 : -1;
			}
		}
	}
	ptr[n] = nnz;
	check(msrep_plan_csr(system, n, n, nnz, ptr, col, val, 0, plan), "msrep_plan_csr");
	free(ptr);
	free(col);
	free(val);
}

/* residual is |b - A x| / |b| for b of ones, without the library. */
static double residual(int64_t k, const double *x)
{
	int64_t n = k * k;
	double sum = 0;
	for (int64_t i = 0; i < n; i++) {
		double r = 1 - 4 * x[i];
		r += i >= k ? x[i - k] : 0;
		r += i % k > 0 ? x[i - 1] : 0;
		r += i % k < k - 1 ? x[i + 1] : 0;
		r += i < n - k ? x[i + k] : 0;
		sum += r * r;
	}
	return sqrt(sum / (double)n);
}

static void begin(state *s)
{
	memset(s->x, 0, (size_t)s->n * sizeof *s->x);
	for (int64_t i = 0; i < s->n; i++)
		s->r[i] = s->p[i] = 1;
}

/* cg_openmp makes at most so many iterations and returns their number. */
static int64_t cg_openmp(msrep_plan plan, state *s, int64_t most)
{
	const int64_t n = s->n;
	double *restrict x = s->x, *restrict r = s->r, *restrict p = s->p, *restrict q = s->q;
	double rr = (double)n, stop = TOL * TOL * (double)n;
	int64_t iterations = 0;
	begin(s);
	while (rr > stop && iterations < most) {
		double pq = 0, next = 0;
		check(msrep_multiply(plan, 0, 1, n, p, 0, n, q), "msrep_multiply");
#pragma omp parallel for simd reduction(+ : pq) schedule(static)
		for (int64_t i = 0; i < n; i++)
			pq += p[i] * q[i];
		const double alpha = rr / pq;
#pragma omp parallel for simd reduction(+ : next) schedule(static)
		for (int64_t i = 0; i < n; i++) {
			r[i] -= alpha * q[i];
			next += r[i] * r[i];
		}
		const double beta = next / rr;
#pragma omp parallel for simd schedule(static)
		for (int64_t i = 0; i < n; i++) {
			x[i] += alpha * p[i];
			p[i] = r[i] + beta * p[i];
		}
		rr = next;
		iterations++;
	}
	return iterations;
}

static int64_t blocks(const state *s) { return (s->n + BLOCK - 1) / BLOCK; }

static int64_t end(const state *s, int64_t block) { return (block + 1) * BLOCK < s->n ? (block + 1) * BLOCK : s->n; }

static double sum(const state *s)
{
	double all = 0;
	for (int64_t b = 0; b < blocks(s); b++)
		all += s->sums[b];
	return all;
}

/* The three passes of cg_openmp for blocks first to last-1. */
static void dot_pass(int64_t first, int64_t last, void *arg)
{
	state *s = arg;
	const double *restrict p = s->p, *restrict q = s->q;
	for (int64_t b = first; b < last; b++) {
		double pq = 0;
#pragma omp simd reduction(+ : pq)
		for (int64_t i = b * BLOCK; i < end(s, b); i++)
			pq += p[i] * q[i];
		s->sums[b] = pq;
	}
}

static void step_pass(int64_t first, int64_t last, void *arg)
{
	state *s = arg;
	double *restrict r = s->r;
	const double *restrict q = s->q;
	const double alpha = s->alpha;
	for (int64_t b = first; b < last; b++) {
		double rr = 0;
#pragma omp simd reduction(+ : rr)
		for (int64_t i = b * BLOCK; i < end(s, b); i++) {
			r[i] -= alpha * q[i];
			rr += r[i] * r[i];
		}
		s->sums[b] = rr;
	}
}

static void direction_pass(int64_t first, int64_t last, void *arg)
{
	state *s = arg;
	const double *restrict r = s->r;
	double *restrict p = s->p, *restrict x = s->x;
	const double alpha = s->alpha, beta = s->beta;
	for (int64_t i = first * BLOCK; i < end(s, last - 1); i++) {
		x[i] += alpha * p[i];
		p[i] = r[i] + beta * p[i];
	}
}

/* cg_for is cg_openmp by the workers of the library. */
static int64_t cg_for(msrep_plan plan, state *s, int64_t most)
{
	const int64_t n = s->n, all = blocks(s);
	double rr = (double)n, stop = TOL * TOL * (double)n;
	int64_t iterations = 0;
	begin(s);
	while (rr > stop && iterations < most) {
		check(msrep_multiply(plan, 0, 1, n, s->p, 0, n, s->q), "msrep_multiply");
		check(msrep_for(plan, all, 1, dot_pass, s), "msrep_for");
		s->alpha = rr / sum(s);
		check(msrep_for(plan, all, 1, step_pass, s), "msrep_for");
		const double next = sum(s);
		s->beta = next / rr;
		check(msrep_for(plan, all, 1, direction_pass, s), "msrep_for");
		rr = next;
		iterations++;
	}
	return iterations;
}

static int64_t cg_library(msrep_plan plan, state *s, int64_t most)
{
	int64_t iterations = 0;
	begin(s);
	const msrep_status status =
	    msrep_solve(plan, MSREP_CG, MSREP_NO_PRECOND, s->n, s->r, s->x, TOL, most, &iterations, NULL);
	if (status != MSREP_NOT_CONVERGED)
		check(status, "msrep_solve");
	return iterations;
}

static int ascending(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static int64_t number(const char *text, int64_t least, int64_t most)
{
	char *rest;
	const long long v = strtoll(text, &rest, 10);
	if (*text == 0 || *rest != 0 || v < least || v > most) {
		fprintf(stderr, "cg: %s: use %lld to %lld\n", text, (long long)least, (long long)most);
		exit(2);
	}
	return v;
}

enum { MAX_ROUNDS = 100, RUNS = 20 };

int main(int argc, char **argv)
{
	const int64_t k = argc > 1 ? number(argv[1], 2, 10000) : 300;
	const int rounds = argc > 2 ? (int)number(argv[2], 1, MAX_ROUNDS) : 5;
	const int threads = argc > 3 ? (int)number(argv[3], 1, 1024) : 2;
	omp_set_num_threads(threads);

	msrep_open_options plain = MSREP_OPEN_OPTIONS_INIT, yielding = MSREP_OPEN_OPTIONS_INIT;
	plain.devices = yielding.devices = "cpu:1";
	plain.threads = yielding.threads = threads;
	yielding.flags = MSREP_YIELD;
#ifdef MSREP_RUN_OPENMP
	msrep_open_options running = plain;
	running.run = MSREP_RUN_OPENMP;
#endif

	const struct {
		const char *name;
		const msrep_open_options *options;
		int64_t (*cg)(msrep_plan, state *, int64_t most);
	} variants[] = {
		{"solve", &plain, cg_library},
		{"openmp", &plain, cg_openmp},
		{"openmp,yield", &yielding, cg_openmp},
#ifdef MSREP_RUN_OPENMP
		{"openmp,run", &running, cg_openmp},
#endif
		{"msrep_for", &plain, cg_for},
	};
	enum { VARIANTS = sizeof variants / sizeof variants[0] };

	state s = {.n = k * k};
	s.x = vector(s.n);
	s.r = vector(s.n);
	s.p = vector(s.n);
	s.q = vector(s.n);
	s.sums = vector(blocks(&s));

	static double took[VARIANTS][MAX_ROUNDS * RUNS];
	int failed = 0;
	for (int round = 0; round < rounds; round++) {
		for (int v = 0; v < VARIANTS; v++) {
			/* One System at a time: the workers of two would be more threads than CPUs. */
			msrep_system system;
			msrep_plan plan;
			check(msrep_open_with(variants[v].options, &system), "msrep_open_with");
			plan_of(system, k, &plan);
			if (round == 0) {
				variants[v].cg(plan, &s, 10 * s.n);
				const double error = residual(k, s.x);
				if (!(error <= 10 * TOL)) {
					printf("%s: wrong solution, relative residual %.2g\n", variants[v].name, error);
					failed = 1;
				}
			}
			for (int run = -2; run < RUNS; run++) { /* the first two warm up */
				const double start = now();
				const int64_t iterations = variants[v].cg(plan, &s, s.n > 500000 ? 30 : 300);
				const double us = 1e6 * (now() - start) / (double)iterations;
				if (run >= 0)
					took[v][round * RUNS + run] = us;
			}
			check(msrep_close(system), "msrep_close");
		}
	}
	printf("CG, %lld unknowns, %d threads, us an iteration (times msrep_solve)\n", (long long)s.n, threads);
	printf("  %-14s %18s %18s\n", "", "lower quartile", "median");
	for (int v = 0; v < VARIANTS; v++) {
		const int all = rounds * RUNS;
		qsort(took[v], (size_t)all, sizeof(double), ascending);
		const double low = took[v][all / 4], mid = took[v][all / 2];
		printf("  %-14s %10.1f (%5.2f) %10.1f (%5.2f)\n", variants[v].name, low, low / took[0][all / 4], mid,
		       mid / took[0][all / 2]);
	}
	free(s.x);
	free(s.r);
	free(s.p);
	free(s.q);
	free(s.sums);
	return failed;
}
