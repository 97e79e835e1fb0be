/* Solves a 1-D Laplacian system with CG, then changes the values and multiplies. */
#include <math.h>
#include <msrep.h>
#include <stdio.h>
#include <stdlib.h>

static void must(msrep_status status, const char *what) {
	if (status != MSREP_OK) {
		fprintf(stderr, "%s: status %d: %s\n", what, status, msrep_last_error());
		exit(1);
	}
}

int main(void) {
	enum { n = 1000 };
	static int64_t ptr[n + 1];
	static int32_t idx[3 * n];
	static double val[3 * n], x[n], b[n], y[n];
	int64_t nnz = 0;
	for (int i = 0; i < n; i++) {
		for (int j = i - 1; j <= i + 1; j++) {
			if (j < 0 || j >= n)
				continue;
			idx[nnz] = j;
			val[nnz++] = i == j ? 2.01 : -1;
		}
		ptr[i + 1] = nnz;
		b[i] = 1;
	}

	msrep_system sys;
	msrep_plan plan;
	must(msrep_open("cpu:2", 0, &sys), "open");
	must(msrep_plan_csr(sys, n, n, nnz, ptr, idx, val, MSREP_DETERMINISTIC, &plan), "plan");

	int64_t iterations;
	double residual;
	must(msrep_solve(plan, MSREP_CG, MSREP_JACOBI, n, b, x, 1e-10, 0, &iterations, &residual), "solve");
	must(msrep_multiply(plan, 0, 1, n, x, 0, n, y), "multiply");
	double worst = 0;
	for (int i = 0; i < n; i++)
		worst = fmax(worst, fabs(y[i] - b[i]));
	printf("msrep %s: %lld iterations, residual %.1e, largest error of a row %.1e\n", msrep_version(), (long long)iterations,
	       residual, worst);

	for (int64_t k = 0; k < nnz; k++)
		val[k] *= 2;
	must(msrep_update(plan, nnz, val), "update");
	must(msrep_multiply(plan, 1, 0.5, n, x, -1, n, y), "multiply by the transpose"); /* 0.5*(2A)'x - y = 0 */
	for (int i = 0; i < n; i++)
		worst = fmax(worst, fabs(y[i]));
	must(msrep_close(plan), "close the plan");
	must(msrep_close(sys), "close the system");
	return worst < 1e-7 ? 0 : 1;
}
