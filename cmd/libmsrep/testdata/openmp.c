/* Checks Systems for programs with threads of their own: MSREP_YIELD, products on threads of OpenMP, and wrong runners. */
#include <math.h>
#include <msrep.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { n = 400 * 400 };
static int bad;

static void expect(msrep_status got, msrep_status want, const char *says, int line) {
	if (got != want || (want != MSREP_OK && !strstr(msrep_last_error(), says))) {
		fprintf(stderr, "line %d: status %d (%s), expected %d (%s)\n", line, got, msrep_last_error(), want, says);
		bad = 1;
	}
}
#define EXPECT(call, want, says) expect(call, want, says, __LINE__)

static void (*kept)(int i, void *arg);
static void *kept_arg;

static void in_turn(int pieces, void (*piece)(int i, void *arg), void *arg) {
	for (int i = pieces - 1; i >= 0; i--)
		piece(i, arg);
	kept = piece, kept_arg = arg;
}

static int wrong;
static void at_times_wrong(int pieces, void (*piece)(int i, void *arg), void *arg) {
	for (int i = wrong; i < pieces; i++) /* without the first piece */
		piece(i, arg);
}

int main(void) {
	msrep_matrix a = MSREP_MATRIX_INIT;
	EXPECT(msrep_read("gen:stencil:n=400", &a), MSREP_OK, "");
	double *x = malloc(n * sizeof *x), *y = malloc(n * sizeof *y), *want = malloc(n * sizeof *want);
	for (int i = 0; i < n; i++)
		x[i] = sin(i);
	for (int i = 0; i < n; i++) {
		const int64_t *p = a.pointers;
		want[i] = 0;
		for (int64_t k = p[i]; k < p[i + 1]; k++)
			want[i] += ((const double *)a.values)[k] * x[((const int32_t *)a.indices)[k]];
	}
	msrep_runner runners[] = {NULL, NULL, MSREP_RUN_OPENMP, in_turn, at_times_wrong};
	for (int r = 0; r < 5; r++) {
		msrep_open_options o = MSREP_OPEN_OPTIONS_INIT;
		o.devices = "cpu:1", o.threads = 2, o.run = runners[r], o.flags = r == 1 ? MSREP_YIELD : 0;
		msrep_system sys;
		msrep_plan plan;
		EXPECT(msrep_open_with(&o, &sys), MSREP_OK, "");
		EXPECT(msrep_plan_matrix(sys, &a, NULL, &plan), MSREP_OK, "");
		for (int k = 0; k < 50; k++) {
			memset(y, 0, n * sizeof *y);
			EXPECT(msrep_multiply(plan, 0, 1, n, x, 0, n, y), MSREP_OK, "");
			for (int i = 0; i < n; i++)
				if (!(fabs(y[i] - want[i]) < 1e-12))
					bad = 1;
		}
		if (r == 3)
			kept(0, kept_arg); /* a late call does nothing */
		if (r == 4) {
			wrong = 1;
			EXPECT(msrep_multiply(plan, 0, 1, n, x, 0, n, y), MSREP_DEVICE_ERROR, "Config.Run called f 1 times for n = 2");
		}
		EXPECT(msrep_close(sys), MSREP_OK, "");
		wrong = 0;
	}
	EXPECT(msrep_matrix_free(&a), MSREP_OK, "");
	if (!bad)
		puts("openmp: products on workers that yield and on threads of OpenMP are right");
	return bad;
}
