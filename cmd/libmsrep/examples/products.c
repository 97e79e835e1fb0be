/* Multiplies a matrix with several vectors at once, and says in which form the matrix is stored. */
#include "must.h"
#include <string.h>

enum { rows = 4, cols = 3, nnz = 6, count = 2 };

int main(void) {
	/* Triples that count from 1, in any order, with 32-bit indices:
	 *     1 0 2
	 *     0 3 0
	 *     4 0 5
	 *     0 6 0 */
	int row[nnz] = {1, 1, 2, 3, 3, 4}, col[nnz] = {1, 3, 2, 1, 3, 2};
	float val[nnz] = {1, 2, 3, 4, 5, 6};
	msrep_matrix a = MSREP_MATRIX_INIT;
	a.rows = rows, a.cols = cols, a.nnz = nnz;
	a.layout = MSREP_COO, a.index_bits = 32, a.value_bits = 32, a.base = 1;
	a.pointers = row, a.indices = col, a.values = val;

	msrep_system sys;
	msrep_plan plan;
	msrep_open_options open = MSREP_OPEN_OPTIONS_INIT;
	open.devices = "cpu:1";
	must(msrep_open_with(&open, &sys), "open");
	msrep_plan_options options = MSREP_PLAN_OPTIONS_INIT;
	options.expected_products = 1000; /* the library then spends little time on the choice of a form */
	must(msrep_plan_matrix(sys, &a, &options, &plan), "plan");

	char text[4000];
	must(msrep_describe(plan, text, sizeof text, NULL), "describe");
	puts(text);

	float x[cols][count] = {{1, 10}, {1, 20}, {1, 30}}, y[rows][count];
	must(msrep_multiply_many_single(plan, 0, count, 1, cols, x[0], count, 0, rows, y[0], count, 0), "multiply");
	for (int i = 0; i < rows; i++)
		printf("%5g %5g\n", y[i][0], y[i][1]);
	must(msrep_close(sys), "close"); /* closes the plan too */

	const float want[rows][count] = {{3, 70}, {3, 60}, {9, 190}, {6, 120}};
	return memcmp(y, want, sizeof y) != 0;
}
