/* A libcusparse without a GPU: plain loops over the memory of cuda.c. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "standin.h"

enum { success = 0, invalid = 3 };

struct matrix { int64_t rows, cols, nnz; void *major, *minor, *val; int wide, single, coo, prepared, upper, unit; void *buffer; };
struct vector { int64_t n; void *val; int single; };

#define ENTER() do { if (mock_enter(__func__)) { mock_leave(); return 7; } mock_leave(); } while (0)

const char *cusparseGetErrorString(int status) { return status == invalid ? "invalid value" : "internal error"; }

/* version returns part i of MSREP_STANDIN_CUSPARSE, such as 12.7.3, which decides what SpMVOp does. */
static int version(int i) {
	int v[3] = {12, 8, 6};
	if (getenv("MSREP_STANDIN_CUSPARSE")) {
		sscanf(getenv("MSREP_STANDIN_CUSPARSE"), "%d.%d.%d", v, v + 1, v + 2);
	}
	return v[i];
}

int cusparseGetProperty(int what, int *v) {
	*v = version(what);
	return success;
}

struct handle { void *stream; };

/* usable reports whether the stream of a handle exists; a new handle has the default stream. */
static int usable(const struct handle *h) { return h && (!h->stream || mock_stream(h->stream)); }

int cusparseCreate(struct handle **h) { ENTER(); *h = calloc(1, sizeof **h); mock_count(1); return success; }

int cusparseDestroy(struct handle *h) {
	ENTER();
	if (!usable(h)) {
		return invalid;
	}
	free(h);
	mock_count(-1);
	return success;
}

int cusparseSetStream(struct handle *h, void *s) {
	ENTER();
	if (!h || !mock_stream(s)) {
		return invalid;
	}
	h->stream = s;
	return success;
}

static int describe(void **out, struct matrix m) {
	struct matrix *p = malloc(sizeof *p);
	*p = m;
	*out = p;
	mock_count(1);
	return success;
}

int cusparseCreateCsr(void **m, int64_t rows, int64_t cols, int64_t nnz, void *ptr, void *idx, void *val, int pt, int it, int base, int type) {
	ENTER();
	if ((pt != 2 && pt != 3) || it != 2 || base || type > 1) {
		return invalid;
	}
	return describe(m, (struct matrix){.rows = rows, .cols = cols, .nnz = nnz, .major = ptr, .minor = idx, .val = val, .wide = pt == 3, .single = type == 0});
}

int cusparseCreateCoo(void **m, int64_t rows, int64_t cols, int64_t nnz, void *row, void *col, void *val, int it, int base, int type) {
	ENTER();
	if (it != 2 || base || type > 1) {
		return invalid;
	}
	return describe(m, (struct matrix){.rows = rows, .cols = cols, .nnz = nnz, .major = row, .minor = col, .val = val, .single = type == 0, .coo = 1});
}

int cusparseDestroySpMat(void *m) { ENTER(); free(m); mock_count(-1); return success; }

int cusparseCreateDnVec(void **v, int64_t n, void *val, int type) {
	ENTER();
	struct vector *p = malloc(sizeof *p);
	*p = (struct vector){n, val, type == 0};
	*v = p;
	mock_count(1);
	return success;
}

int cusparseDnVecSetValues(struct vector *v, void *val) { ENTER(); v->val = val; return success; }
int cusparseDestroyDnVec(void *v) { ENTER(); free(v); mock_count(-1); return success; }

static int fits(int op, const struct matrix *m, const struct vector *x, const struct vector *y, int type, int alg) {
	int64_t in = op ? m->rows : m->cols, out = op ? m->cols : m->rows;
	int right_kind = alg == 0 || (m->coo ? alg == 1 || alg == 4 : alg == 2 || alg == 3);
	return right_kind && x->n == in && y->n == out && x->single == m->single && y->single == m->single && type == !m->single;
}

/* aligned loses the GPU if an array is unaligned, like kernels that read 16 bytes at a time. */
static int aligned(const struct matrix *m, const struct vector *y) {
	if (((uintptr_t)m->major | (uintptr_t)m->minor | (uintptr_t)m->val | (uintptr_t)y->val) % 16 == 0) {
		return 1;
	}
	mock_lose(716); /* misaligned address */
	return 0;
}

int cusparseSpMV_bufferSize(struct handle *h, int op, const void *a, struct matrix *m, struct vector *x, const void *b, struct vector *y, int type, int alg, size_t *n) {
	ENTER();
	*n = 512;
	return usable(h) && a && b && fits(op, m, x, y, type, alg) ? success : invalid;
}

/* cuSPARSE does not promise that preprocessing keeps y, so this function overwrites it. */
int cusparseSpMV_preprocess(struct handle *h, int op, const void *a, struct matrix *m, struct vector *x, const void *b, struct vector *y, int type, int alg, void *buffer) {
	ENTER();
	if (!usable(h) || !a || !b || !buffer || !fits(op, m, x, y, type, alg)) {
		return invalid;
	}
	mock_drain_all();
	memset(y->val, 0xff, y->n * (y->single ? sizeof(float) : sizeof(double)));
	m->prepared = 1;
	m->buffer = buffer;
	return success;
}

static double get(const void *p, int64_t i, int single) { return single ? ((const float *)p)[i] : ((const double *)p)[i]; }

static int64_t major_ptr(const struct matrix *m, int64_t r) { return m->wide ? ((int64_t *)m->major)[r] : ((int32_t *)m->major)[r]; }

/* multiply computes y = alpha*op(A)*x + beta*y. With strict, beta = 0 does not read y. wrong replaces the results. */
static void multiply(int op, double alpha, const struct matrix *m, const struct vector *x, double beta, struct vector *y, int strict, const double *wrong) {
	double *sum = calloc(y->n + 1, sizeof *sum);
	for (int64_t r = 0, k = 0; r < (m->coo ? 1 : m->rows); r++) {
		for (k = m->coo ? 0 : major_ptr(m, r); k < (m->coo ? m->nnz : major_ptr(m, r + 1)); k++) {
			int64_t i = m->coo ? ((int32_t *)m->major)[k] : r, j = ((int32_t *)m->minor)[k];
			double v = get(m->val, k, m->single);
			if (op) {
				sum[j] += v * get(x->val, i, m->single);
			} else {
				sum[i] += v * get(x->val, j, m->single);
			}
		}
	}
	for (int64_t i = 0; i < y->n; i++) {
		double v = wrong ? *wrong : alpha * sum[i] + (strict && beta == 0 ? 0 : beta * get(y->val, i, m->single));
		if (m->single) {
			((float *)y->val)[i] = (float)v;
		} else {
			((double *)y->val)[i] = v;
		}
	}
	free(sum);
}

int cusparseSpMV(struct handle *h, int op, const void *a, struct matrix *m, struct vector *x, const void *b, struct vector *y, int type, int alg, void *buffer) {
	ENTER();
	if (!usable(h) || !buffer || !fits(op, m, x, y, type, alg) || (m->prepared && m->buffer != buffer) || mock_drain_all()) {
		return invalid;
	}
	if (!aligned(m, y)) {
		return success; /* the next call that waits reports the error */
	}
	static const double bad = 1e300; /* CSR_ALG2 is wrong for one row or column in some versions */
	int one = (m->rows == 1 || m->cols == 1) && !m->coo && alg == 3;
	multiply(op, get(a, 0, m->single), m, x, get(b, 0, m->single), y, 1, one ? &bad : 0);
	return success;
}

/* SpMVOp. Before 12.8 it has no argument for the algorithm and no float32, and here it reads y also if beta is 0. */
struct analysis { struct matrix *m; void *buffer; };
struct plan { struct analysis *of; };

static int since12_8(void) { return version(0) > 12 || (version(0) == 12 && version(1) >= 8); }

static int op_fits(int op, const struct matrix *m, const struct vector *x, const struct vector *y, const struct vector *z, int type) {
	return !op && !m->coo && y == z && fits(op, m, x, y, type, 0) && (since12_8() || !m->single);
}

int cusparseSpMVOp_bufferSize(struct handle *h, int op, struct matrix *m, struct vector *x, struct vector *y, struct vector *z, int type, uintptr_t p, size_t *q) {
	ENTER();
	if (since12_8() && p) {
		return invalid;
	}
	*(since12_8() ? q : (size_t *)p) = 1024;
	return usable(h) && op_fits(op, m, x, y, z, type) ? success : invalid;
}

int cusparseSpMVOp_createDescr(struct handle *h, void **out, int op, struct matrix *m, struct vector *x, struct vector *y, struct vector *z, int type, uintptr_t p, void *q) {
	ENTER();
	void *buffer = since12_8() ? q : (void *)p;
	if (!usable(h) || (since12_8() && p) || !buffer || !op_fits(op, m, x, y, z, type) || mock_drain_all()) {
		return invalid;
	}
	struct analysis *a = malloc(sizeof *a);
	*a = (struct analysis){m, buffer};
	*out = a;
	mock_count(1);
	return success;
}

int cusparseSpMVOp_createPlan(struct handle *h, struct analysis *a, void **out, const void *code, size_t bytes) {
	ENTER();
	if (!usable(h) || !a || code || bytes) {
		return invalid;
	}
	struct plan *p = malloc(sizeof *p);
	*p = (struct plan){a};
	*out = p;
	mock_count(1);
	return success;
}

int cusparseSpMVOp(struct handle *h, struct plan *p, const void *a, const void *b, struct vector *x, struct vector *y, struct vector *z) {
	ENTER();
	struct matrix *m = p->of->m;
	if (!usable(h) || !op_fits(0, m, x, y, z, !m->single) || mock_drain_all()) {
		return invalid;
	}
	if ((uintptr_t)x->val % 16) {
		mock_lose(716);
	} else if (aligned(m, y)) {
		multiply(0, get(a, 0, m->single), m, x, get(b, 0, m->single), y, since12_8(), 0);
	}
	return success;
}

int cusparseSpMVOp_destroyPlan(struct plan *p) { ENTER(); free(p); mock_count(-1); return success; }
int cusparseSpMVOp_destroyDescr(struct analysis *a) { ENTER(); free(a); mock_count(-1); return success; }

struct solve { void *buffer; };

int cusparseSpMatSetAttribute(struct matrix *m, int attribute, const int *value, size_t bytes) {
	ENTER();
	if (attribute < 0 || attribute > 1 || bytes != sizeof *value || *value < 0 || *value > 1) {
		return invalid;
	}
	*(attribute == 0 ? &m->upper : &m->unit) = *value;
	return success;
}

int cusparseSpSV_createDescr(struct solve **s) { ENTER(); *s = calloc(1, sizeof **s); mock_count(1); return success; }
int cusparseSpSV_destroyDescr(struct solve *s) { ENTER(); free(s); mock_count(-1); return success; }

static int solvable(const struct handle *h, int op, const void *a, const struct matrix *m, const struct vector *x, const struct vector *y, int type, int alg, const struct solve *s) {
	return usable(h) && !op && a && s && !m->coo && m->rows == m->cols && alg == 0 && fits(op, m, x, y, type, alg);
}

int cusparseSpSV_bufferSize(struct handle *h, int op, const void *a, struct matrix *m, struct vector *x, struct vector *y, int type, int alg, struct solve *s, size_t *n) {
	ENTER();
	*n = 256;
	return solvable(h, op, a, m, x, y, type, alg, s) ? success : invalid;
}

int cusparseSpSV_analysis(struct handle *h, int op, const void *a, struct matrix *m, struct vector *x, struct vector *y, int type, int alg, struct solve *s, void *buffer) {
	ENTER();
	if (!solvable(h, op, a, m, x, y, type, alg, s) || !buffer || mock_drain_all()) {
		return invalid;
	}
	s->buffer = buffer;
	return success;
}

int cusparseSpSV_solve(struct handle *h, int op, const void *a, struct matrix *m, struct vector *x, struct vector *y, int type, int alg, struct solve *s) {
	ENTER();
	if (!solvable(h, op, a, m, x, y, type, alg, s) || !s->buffer || mock_drain_all()) {
		return invalid;
	}
	double alpha = get(a, 0, m->single);
	for (int64_t i = 0; i < m->rows; i++) {
		int64_t r = m->upper ? m->rows - 1 - i : i;
		double sum = alpha * get(x->val, r, m->single), diagonal = m->unit;
		for (int64_t k = major_ptr(m, r); k < major_ptr(m, r + 1); k++) {
			int64_t c = ((int32_t *)m->minor)[k];
			if (m->upper ? c > r : c < r) {
				sum -= get(m->val, k, m->single) * get(y->val, c, m->single);
			} else if (c == r && !m->unit) {
				diagonal = get(m->val, k, m->single);
			}
		}
		if (m->single) {
			((float *)y->val)[r] = (float)(sum / diagonal);
		} else {
			((double *)y->val)[r] = sum / diagonal;
		}
	}
	return success;
}
