/* A time loop: heat in a rod whose conductivity changes with time, by implicit Euler steps (I + dt k(t) L) u' = u.
 * The structure of the matrix stays, so each step only updates values: those of factors, and those of a plan for CG,
 * which begins with the last u. */
#include "must.h"
#include <math.h>

enum { n = 2000, steps = 50 };

int main(void) {
	static int64_t ptr[n + 1];
	static int32_t idx[3 * n];
	static double val[3 * n], u[n], next[n], v[n];
	int64_t nnz = 0;
	for (int i = 0; i < n; i++) {
		for (int j = i > 0 ? i - 1 : 0; j <= i + 1 && j < n; j++)
			idx[nnz++] = j;
		ptr[i + 1] = nnz;
		u[i] = v[i] = fabs(i - n / 2.0) < n / 8.0; /* hot in the middle */
	}
	msrep_matrix a = MSREP_MATRIX_INIT;
	a.rows = a.cols = n, a.nnz = nnz;
	a.pointers = ptr, a.indices = idx, a.values = val;

	msrep_system sys;
	msrep_plan plan = 0;
	msrep_factors factors = 0;
	must(msrep_open("cpu:1", 0, &sys), "open");
	msrep_plan_options borrow = MSREP_PLAN_OPTIONS_INIT;
	borrow.flags = MSREP_BORROW; /* the plan uses our arrays, no copy */
	msrep_solve_options options = MSREP_SOLVE_OPTIONS_INIT;
	options.method = "cg", options.precond = "jacobi", options.tol = 1e-12;
	int64_t iterations = 0;
	for (int t = 0; t < steps; t++) {
		double k = 50 * (1 + 0.5 * sin(0.1 * t));
		for (int i = 0, e = 0; i < n; i++)
			for (; e < ptr[i + 1]; e++)
				val[e] = idx[e] == i ? 1 + 2 * k : -k;

		if (t == 0) {
			must(msrep_factor(sys, &a, "cholesky", NULL, &factors), "factor");
			must(msrep_plan_matrix(sys, &a, &borrow, &plan), "plan");
		} else {
			must(msrep_factor_update(factors, nnz, val), "update the factors");
			must(msrep_update(plan, nnz, val), "update the plan");
		}
		must(msrep_factor_solve(factors, n, u, next), "solve with the factors");
		for (int i = 0; i < n; i++)
			u[i] = next[i];

		msrep_solve_result result = MSREP_SOLVE_RESULT_INIT;
		for (int i = 0; i < n; i++)
			next[i] = v[i]; /* the right-hand side; v is the first guess */
		must(msrep_plan_solve(plan, n, next, n, v, &options, &result), "solve with the plan");
		iterations += result.iterations;
	}
	double worst = 0;
	for (int i = 0; i < n; i++)
		worst = fmax(worst, fabs(u[i] - v[i]));
	printf("%d steps, %lld iterations of cg; factors and cg differ by %.1e\n", steps, (long long)iterations, worst);
	must(msrep_close(sys), "close");
	return worst < 1e-8 ? 0 : 1;
}
