/* Solves a system from a file, shows its progress, and ends on Ctrl-C with the best x so far.
 *
 *     solve [MATRIX]        a file in any format of the library, or a generated matrix */
#include "must.h"
#include <signal.h>

static volatile sig_atomic_t interrupted;

static void on_signal(int number) {
	(void)number;
	interrupted = 1;
}

/* show prints every hundredth iteration. Another result than 0 ends the solve. */
static int show(int64_t iteration, double residual, void *arg) {
	int64_t *last = arg;
	if (iteration / 100 > *last / 100)
		printf("iteration %lld, residual %.1e\n", (long long)iteration, residual);
	*last = iteration;
	return interrupted;
}

int main(int argc, char **argv) {
	struct sigaction act = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK | SA_RESTART}; /* see Signals in msrep.h */
	sigaction(SIGINT, &act, NULL);
	msrep_matrix a = MSREP_MATRIX_INIT;
	must(msrep_read(argc > 1 ? argv[1] : "gen:stencil:dims=3,n=60", &a), "read");
	double *b = calloc((size_t)a.rows + 1, sizeof *b), *x = calloc((size_t)a.cols + 1, sizeof *x);
	for (int64_t i = 0; i < a.rows; i++)
		b[i] = 1;

	msrep_system sys;
	must(msrep_open("auto", 0, &sys), "open");
	int64_t last = 0;
	msrep_solve_options options = MSREP_SOLVE_OPTIONS_INIT;
	options.tol = 1e-10;
	options.progress = show;
	options.arg = &last;
	msrep_solve_result result = MSREP_SOLVE_RESULT_INIT;
	msrep_status status = msrep_solve_with(sys, &a, a.rows, b, a.cols, x, &options, &result);
	if (status != MSREP_STOPPED && status != MSREP_NOT_CONVERGED)
		must(status, "solve");
	printf("%s with %s: %lld iterations, residual %.1e, %.3f s\n", result.method, result.precond,
	       (long long)result.iterations, result.residual, result.seconds);

	must(msrep_close(sys), "close");
	must(msrep_matrix_free(&a), "free");
	free(b);
	free(x);
	return status == MSREP_OK ? 0 : 1;
}
