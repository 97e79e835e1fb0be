/* Checks msrep_plan_matrix with every layout, width and base, and products with several vectors, against plain loops. */
#include <math.h>
#include <msrep.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { rows = 37, cols = 23, most = rows * cols };

static void must(msrep_status status, int line) {
	if (status != MSREP_OK) {
		fprintf(stderr, "line %d: status %d: %s\n", line, status, msrep_last_error());
		exit(1);
	}
}
#define MUST(call) must(call, __LINE__)

static double dense[rows][cols];
static int64_t nnz;
static int64_t i64[most], j64[most]; /* triples by row */
static double v64[most];

/* widened returns n numbers as integers of the given bits that count from base. */
static void *integers(const int64_t *from, int64_t n, int bits, int base) {
	void *out = malloc((size_t)(n * bits / 8));
	for (int64_t k = 0; k < n; k++) {
		if (bits == 32)
			((int32_t *)out)[k] = (int32_t)(from[k] + base);
		else
			((int64_t *)out)[k] = from[k] + base;
	}
	return out;
}

static int compare(msrep_plan plan, int single, int transpose, int by_column, int ones, const char *what) {
	enum { count = 3, pad = 2, stride_row = count + pad };
	int nx = transpose ? rows : cols, ny = transpose ? cols : rows;
	int sx = by_column ? nx + pad : stride_row, sy = by_column ? ny + pad : stride_row;
	double x[(rows + pad) * stride_row], y[(rows + pad) * stride_row], before[(rows + pad) * stride_row];
	float x1[(rows + pad) * stride_row], y1[(rows + pad) * stride_row];
	for (int k = 0; k < (rows + pad) * stride_row; k++) {
		x1[k] = (float)(x[k] = (k * 7 % 16) / 8.0 - 1);
		y1[k] = (float)(y[k] = before[k] = (k * 5 % 16) / 4.0);
	}
	if (single)
		MUST(msrep_multiply_many_single(plan, transpose, count, 2, nx, x1, sx, -1, ny, y1, sy, by_column));
	else
		MUST(msrep_multiply_many(plan, transpose, count, 2, nx, x, sx, -1, ny, y, sy, by_column));
	int used = 0;
	for (int k = 0; k < (rows + pad) * stride_row; k++) {
		int i = by_column ? k % sy : k / sy, j = by_column ? k / sy : k % sy;
		double want = before[k], got = single ? y1[k] : y[k];
		if (i < ny && j < count) {
			used++;
			want = -before[k];
			for (int l = 0; l < nx; l++) {
				double a = transpose ? dense[l][i] : dense[i][l];
				want += 2 * (ones ? a != 0 : a) * x[by_column ? j * sx + l : l * sx + j];
			}
		}
		if (got != want) { /* the numbers are short: sums are exact */
			fprintf(stderr, "%s: element %d of vector %d is %g, expected %g\n", what, i, j, got, want);
			return 1;
		}
	}
	return used != ny * count;
}

int main(void) {
	int64_t row_ptr[rows + 1] = {0}, col_ptr[cols + 1] = {0}, by_col[most], row_of[most], shuffled_i[most], shuffled_j[most];
	double vc[most], vs[most];
	for (int i = 0; i < rows; i++) {
		for (int j = 0; j < cols; j++) {
			if ((i * 31 + j * 17) % 5 != 0 || i == 4) /* row 4 is empty */
				continue;
			dense[i][j] = (i - j) % 8 + 0.5;
			i64[nnz] = i, j64[nnz] = j, v64[nnz++] = dense[i][j];
		}
		row_ptr[i + 1] = nnz;
	}
	int64_t at = 0;
	for (int j = 0; j < cols; j++) {
		for (int i = 0; i < rows; i++)
			if (dense[i][j] != 0)
				row_of[at] = i, vc[at++] = dense[i][j];
		col_ptr[j + 1] = at;
	}
	for (int64_t k = 0; k < nnz; k++) {
		by_col[k] = (k * 101) % nnz; /* 101 is prime and nnz is no multiple of it */
		shuffled_i[k] = i64[by_col[k]], shuffled_j[k] = j64[by_col[k]], vs[k] = v64[by_col[k]];
	}

	msrep_system sys;
	msrep_open_options open = MSREP_OPEN_OPTIONS_INIT;
	open.devices = "cpu:2";
	MUST(msrep_open_with(&open, &sys));
	int bad = 0, plans = 0;
	for (int layout = MSREP_CSR; layout <= MSREP_COO; layout++)
		for (int pointer = 32; pointer <= 64; pointer += 32)
			for (int index = 32; index <= 64; index += 32)
				for (int base = 0; base <= 1; base++)
					for (int kind = 0; kind < 6; kind++) { /* double, float, ones, and the same borrowed */
						int64_t pointers = layout == MSREP_CSR ? rows + 1 : layout == MSREP_CSC ? cols + 1 : nnz;
						int single = kind % 3 == 1, ones = kind % 3 == 2, borrow = kind >= 3;
						msrep_matrix a = MSREP_MATRIX_INIT;
						a.rows = rows, a.cols = cols, a.nnz = nnz, a.layout = layout, a.base = base;
						a.pointer_bits = pointer, a.index_bits = index, a.value_bits = single ? 32 : 64;
						const int64_t *p = layout == MSREP_CSR ? row_ptr : layout == MSREP_CSC ? col_ptr : shuffled_i;
						const int64_t *q = layout == MSREP_CSR ? j64 : layout == MSREP_CSC ? row_of : shuffled_j;
						const double *v = layout == MSREP_CSR ? v64 : layout == MSREP_CSC ? vc : vs;
						void *pp = integers(p, pointers, layout == MSREP_COO ? index : pointer, base);
						void *qq = integers(q, nnz, index, base);
						float v1[most];
						for (int64_t k = 0; k < nnz; k++)
							v1[k] = (float)v[k];
						a.pointers = pp, a.indices = qq;
						a.values = ones ? NULL : single ? (const void *)v1 : v;
						msrep_plan_options options = MSREP_PLAN_OPTIONS_INIT;
						options.flags = borrow ? MSREP_BORROW : 0;
						options.expected_products = 10;
						msrep_plan plan;
						MUST(msrep_plan_matrix(sys, &a, &options, &plan));
						if (!borrow) { /* the plan has copies */
							memset(pp, 0x55, (size_t)(pointers * (layout == MSREP_COO ? index : pointer) / 8));
							memset(qq, 0x55, (size_t)(nnz * index / 8));
							memset(v1, 0x55, sizeof v1);
						}
						char what[100];
						snprintf(what, sizeof what, "layout %d, pointers %d, indices %d, base %d, kind %d", layout, pointer, index, base, kind);
						for (int form = 0; form < 4; form++)
							bad |= compare(plan, single, form & 1, form >> 1, ones, what);
						double doubled[most]; /* an update has the order of the matrix */
						float doubled1[most];
						for (int64_t k = 0; k < nnz; k++)
							doubled1[k] = (float)(doubled[k] = 2 * v[k]);
						MUST(single ? msrep_update_single(plan, nnz, doubled1) : msrep_update(plan, nnz, doubled));
						for (int i = 0; i < rows; i++)
							for (int j = 0; j < cols; j++)
								dense[i][j] *= 2;
						bad |= compare(plan, single, 0, 0, 0, what);
						bad |= compare(plan, single, 1, 1, 0, what);
						for (int i = 0; i < rows; i++)
							for (int j = 0; j < cols; j++)
								dense[i][j] /= 2;
						MUST(msrep_close(plan));
						free(pp);
						free(qq);
						plans++;
					}
	MUST(msrep_close(sys));
	if (!bad)
		printf("layouts: %d plans multiply as plain loops do\n", plans);
	return bad;
}
