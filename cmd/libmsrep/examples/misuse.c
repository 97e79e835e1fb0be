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
	EXPECT(msrep_plan_csr(sys, 2, 2, 2, (int64_t *)4096, idx, val, 0, &none), MSREP_FAILED, "address");
	EXPECT(msrep_plan_csr(sys, 2, 2, 2, ptr, (int32_t *)4096, val, 0, &none), MSREP_FAILED, "address");
	EXPECT(msrep_plan_csr(sys, 2, 2, 2, (int64_t[]){1, 2, 3}, (int32_t[]){1, 2}, val, 0, &none), MSREP_BAD_INPUT, "must count from 0");
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

	EXPECT(msrep_update(plan, 3, val), MSREP_BAD_INPUT, "val: 3 values");
	EXPECT(msrep_update(plan, many, val), MSREP_BAD_INPUT, "val: 17592186044416 values");
	EXPECT(msrep_update(plan, 2, (double *)4096), MSREP_FAILED, "address");
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
