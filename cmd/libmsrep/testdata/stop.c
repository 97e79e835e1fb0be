/* Checks that a signal, by a flag that progress reads, and msrep_stop end solves, factorisations, plans and reads within
 * 0.2 s, in all phases, and prints the longest time from the request to the return. Its argument is a folder for a file. */
#include <math.h>
#include <msrep.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void must(msrep_status status, int line) {
	if (status != MSREP_OK) {
		fprintf(stderr, "line %d: status %d: %s\n", line, status, msrep_last_error());
		exit(1);
	}
}
#define MUST(call) must(call, __LINE__)

static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static volatile sig_atomic_t interrupted;
static void on_signal(int number) {
	(void)number;
	interrupted = 1;
}

static pthread_t caller;
static int64_t calls, foreign;
static int progress(int64_t iteration, double residual, void *arg) {
	(void)arg;
	calls++;
	foreign += !pthread_equal(pthread_self(), caller) || iteration < 0 || residual < 0;
	return interrupted;
}

/* A request to stop, by a thread that waits for its time. */
static struct {
	double after, at;
	uint64_t handle; /* for msrep_stop; 0 means by a signal */
} request;

static void *ask(void *arg) {
	(void)arg;
	struct timespec wait = {(time_t)request.after, (long)(1e9 * fmod(request.after, 1))};
	nanosleep(&wait, NULL);
	request.at = now();
	if (request.handle)
		MUST(msrep_stop(request.handle));
	else
		kill(getpid(), SIGINT);
	return NULL;
}

static msrep_system sys;
static double *b, *x;
static char file[1024];

/* make_plan makes a plan of a, which it borrows where borrow is set, and closes it. */
static msrep_status make_plan(const msrep_matrix *a, int borrow) {
	msrep_plan_options options = MSREP_PLAN_OPTIONS_INIT;
	options.flags = borrow ? MSREP_BORROW : 0;
	options.expected_products = 10000;
	options.progress = progress;
	msrep_plan plan;
	msrep_status status = msrep_plan_matrix(sys, a, &options, &plan);
	if (status == MSREP_OK)
		MUST(msrep_close(plan));
	return status;
}

static msrep_status read_matrix(const char *path) {
	msrep_read_options options = MSREP_READ_OPTIONS_INIT;
	options.progress = progress;
	msrep_matrix a = MSREP_MATRIX_INIT;
	msrep_status status = msrep_read_with(path, &options, &a);
	if (status == MSREP_OK)
		MUST(msrep_matrix_free(&a));
	return status;
}

static double longest;
static int bad;

/* once runs one call. It returns the time from the request to the return, or -1 if the call reached its end by itself,
 * before the request or within 0.2 s of it. */
static double once(const char *what, const msrep_matrix *a, msrep_plan plan, const char *method, const char *precond, double after, uint64_t handle) {
	msrep_solve_options options = MSREP_SOLVE_OPTIONS_INIT;
	msrep_solve_result result = MSREP_SOLVE_RESULT_INIT;
	options.method = method, options.precond = precond;
	options.tol = 1e-15, options.max_iter = 1000000;
	options.progress = progress;
	memset(x, 0, sizeof *x * (size_t)a->cols);
	interrupted = 0;
	request.after = after, request.handle = handle;
	pthread_t asker;
	pthread_create(&asker, NULL, ask, NULL);
	msrep_factors factors = 0;
	msrep_status status;
	if (plan && strcmp(what, "msrep_solve") == 0)
		status = msrep_solve(plan, MSREP_CG, MSREP_JACOBI, a->rows, b, x, 1e-15, 1000000, &result.iterations, &result.residual);
	else if (strcmp(what, "plan") == 0 || strcmp(what, "borrowing plan") == 0)
		status = make_plan(a, *what == 'b');
	else if (strcmp(what, "generator") == 0)
		status = read_matrix("gen:stencil:dims=3,n=150");
	else if (strcmp(what, "file") == 0)
		status = read_matrix(file);
	else if (plan)
		status = msrep_plan_solve(plan, a->rows, b, a->cols, x, &options, &result);
	else if (strcmp(what, "factors") == 0)
		status = msrep_factor(sys, a, "lu", NULL, &factors);
	else
		status = msrep_solve_with(sys, a, a->rows, b, a->cols, x, &options, &result);
	double end = now();
	pthread_join(asker, NULL);
	if (status != MSREP_STOPPED) {
		if (factors)
			MUST(msrep_close(factors));
		if (end - request.at > 0.2) {
			fprintf(stderr, "%s: stop after %g s: status %d (%s)\n", what, after, status, msrep_last_error());
			bad = 1;
		}
		return -1;
	}
	double took = end - request.at;
	if (getenv("VERBOSE"))
		printf("%-22s stop after %.2f s took %.3f s, iteration %lld, residual %.1e, x[0] %g\n", what, after, took, (long long)result.iterations,
		       result.residual, x[0]);
	if (result.iterations > 50 && x[0] == 0) {
		fprintf(stderr, "%s: x is not the last iterate\n", what);
		return 1;
	}
	return took;
}

/* stopped returns 1 if a call was stopped, 0 if it ended before. A call that takes too long is repeated, since other
 * processes delay threads. */
static int stopped(const char *what, const msrep_matrix *a, msrep_plan plan, const char *method, const char *precond, double after, uint64_t handle) {
	double best = 1;
	for (int try = 0; try < 3 && best > 0.2; try++) {
		if (try > 0)
			sleep(1); /* for steps that end in the background */
		double took = once(what, a, plan, method, precond, after, handle);
		if (took < 0)
			return 0;
		best = fmin(best, took);
	}
	longest = fmax(longest, best);
	if (best > 0.2) {
		fprintf(stderr, "%s: stop after %g s took %.3f s\n", what, after, best);
		bad = 1;
	}
	return 1;
}

int main(int argc, char **argv) {
	if (argc != 2) {
		fprintf(stderr, "usage: stop FOLDER\n");
		return 2;
	}
	snprintf(file, sizeof file, "%s/stop.mtx", argv[1]);
	caller = pthread_self();
	signal(SIGINT, on_signal);
	MUST(msrep_open("cpu:1", 0, &sys));
	struct sigaction act;
	sigaction(SIGINT, NULL, &act);
	if (!(act.sa_flags & SA_ONSTACK) || act.sa_handler != on_signal) {
		fprintf(stderr, "msrep_open: the handler of SIGINT does not run on alternate stacks\n");
		bad = 1;
	}
	msrep_matrix grid = MSREP_MATRIX_INIT, cube = MSREP_MATRIX_INIT;
	MUST(msrep_read("gen:stencil:n=700", &grid));
	MUST(msrep_read("gen:stencil:dims=3,n=50", &cube));
	b = malloc(sizeof *b * (size_t)grid.rows);
	x = malloc(sizeof *x * (size_t)grid.rows);
	for (int64_t i = 0; i < grid.rows; i++)
		b[i] = sin((double)i);
	msrep_plan plan;
	MUST(msrep_plan_matrix(sys, &grid, NULL, &plan));

	int ended = 0;
	const double times[] = {0.01, 0.1, 0.4, 0.9};
	for (unsigned k = 0; k < sizeof times / sizeof *times; k++) {
		double t = times[k];
		ended += stopped("cg", &grid, plan, "cg", NULL, t, 0);
		ended += stopped("cg", &grid, plan, "cg", NULL, t, plan);
		ended += stopped("msrep_solve", &grid, plan, NULL, NULL, t, plan);
		ended += stopped("gmres and ilut", &grid, plan, "gmres", "ilut", t, 0);
		ended += stopped("direct, cube", &cube, 0, "direct", NULL, t, 0);
		ended += stopped("direct, grid", &grid, 0, "direct", NULL, t, sys);
		ended += stopped("auto", &grid, 0, NULL, NULL, t, 0);
		ended += stopped("factors", &cube, 0, NULL, NULL, t, sys);
		ended += stopped("factors", &grid, 0, NULL, NULL, t, sys);
	}
	const double soon[] = {0.002, 0.01, 0.03, 0.06, 0.1, 0.15};
	int early[4] = {0};
	MUST(msrep_write(file, &grid));
	for (unsigned k = 0; k < sizeof soon / sizeof *soon; k++) {
		double t = soon[k];
		early[0] += stopped("plan", &grid, 0, NULL, NULL, t, 0) + stopped("plan", &grid, 0, NULL, NULL, t, sys);
		early[1] += stopped("borrowing plan", &grid, 0, NULL, NULL, t, 0) + stopped("borrowing plan", &grid, 0, NULL, NULL, t, sys);
		early[2] += stopped("generator", &grid, 0, NULL, NULL, t, 0);
		early[3] += stopped("file", &grid, 0, NULL, NULL, t, 0);
	}
	remove(file);
	for (int k = 0; k < 4; k++) {
		ended += early[k];
		if (early[k] == 0) {
			fprintf(stderr, "none of kind %d was stopped: plan, borrowing plan, generator, file\n", k);
			bad = 1;
		}
	}
	if (foreign || calls == 0) {
		fprintf(stderr, "progress was called %lld times, %lld times wrongly\n", (long long)calls, (long long)foreign);
		bad = 1;
	}
	if (ended < 20) {
		fprintf(stderr, "only %d calls were stopped: the systems are too small for this test\n", ended);
		bad = 1;
	}
	MUST(msrep_close(sys));
	MUST(msrep_matrix_free(&grid));
	MUST(msrep_matrix_free(&cube));
	if (!bad)
		printf("stop: %d calls ended, the last %.3f s after the request\n", ended, longest);
	return bad;
}
