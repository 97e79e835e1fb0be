//go:build cuda

#include <dlfcn.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>

#include "shim.h"

/* Values of cusparse.h that have been the same since CUDA 11. */
enum { index32 = 2, index64 = 3, base_zero = 0, real32 = 0, real64 = 1 };

static struct {
	int (*create)(void **);
	int (*destroy)(void *);
	int (*set_stream)(void *, void *);
	int (*property)(int, int *);
	const char *(*text)(int);
	int (*csr)(void **, int64_t, int64_t, int64_t, void *, void *, void *, int, int, int, int);
	int (*coo)(void **, int64_t, int64_t, int64_t, void *, void *, void *, int, int, int);
	int (*destroy_matrix)(void *);
	int (*vector)(void **, int64_t, void *, int);
	int (*set_vector)(void *, void *);
	int (*destroy_vector)(void *);
	int (*buffer)(void *, int, const void *, void *, void *, const void *, void *, int, int, size_t *);
	int (*preprocess)(void *, int, const void *, void *, void *, const void *, void *, int, int, void *);
	int (*multiply)(void *, int, const void *, void *, void *, const void *, void *, int, int, void *);
	/* Since 12.8, these two have the algorithm before the last parameter. */
	union {
		int (*as12_7)(void *, int, void *, void *, void *, void *, int, size_t *);
		int (*as12_8)(void *, int, void *, void *, void *, void *, int, int, size_t *);
		void *found;
	} op_buffer;
	union {
		int (*as12_7)(void *, void **, int, void *, void *, void *, void *, int, void *);
		int (*as12_8)(void *, void **, int, void *, void *, void *, void *, int, int, void *);
		void *found;
	} op_analyse;
	int (*op_plan)(void *, void *, void **, const void *, size_t);
	int (*op_multiply)(void *, void *, const void *, const void *, void *, void *, void *);
	int (*op_drop_plan)(void *);
	int (*op_drop_analysis)(void *);
	int (*attribute)(void *, int, void *, size_t);
	int (*solve_create)(void **);
	int (*solve_destroy)(void *);
	int (*solve_buffer)(void *, int, const void *, void *, void *, void *, int, int, void *, size_t *);
	int (*solve_analyse)(void *, int, const void *, void *, void *, void *, int, int, void *, void *);
	int (*solve)(void *, int, const void *, void *, void *, void *, int, int, void *);
} api;

static char path[512], reason[512];
static int loaded;

const char *msrep_sparse_path(void) { return path; }

/* try_open opens one file. */
static void *try_open(const char *name) {
	void *lib = dlopen(name, RTLD_NOW | RTLD_LOCAL);
	if (lib) {
		snprintf(path, sizeof path, "%s", name);
	} else if (!reason[0]) {
		snprintf(reason, sizeof reason, "%s", dlerror());
	}
	return lib;
}

/* try_glob opens the first file that matches a pattern and can be loaded. */
static void *try_glob(const char *pattern) {
	glob_t found;
	void *lib = 0;
	if (glob(pattern, 0, 0, &found) == 0) {
		for (size_t i = 0; i < found.gl_pathc && !lib; i++) {
			lib = try_open(found.gl_pathv[i]);
		}
	}
	globfree(&found);
	return lib;
}

/* open_library opens MSREP_LIBCUSPARSE if it is set, else tries the usual names and
 * folders, including those of Python packages. */
static void *open_library(void) {
	const char *own = getenv("MSREP_LIBCUSPARSE");
	if (own && own[0]) {
		return try_open(own);
	}
	const char *names[] = {"libcusparse.so.12", "libcusparse.so.11", 0};
	const char *patterns[] = {
		"/usr/local/cuda*/lib64/libcusparse.so.1[12]", "/usr/local/cuda*/targets/*/lib/libcusparse.so.1[12]",
		"/usr/lib/python3*/*-packages/nvidia/*/lib/libcusparse.so.1[12]",
		"/usr/local/lib/python3*/*-packages/nvidia/*/lib/libcusparse.so.1[12]",
		"/opt/*/.venv/lib/python3*/site-packages/nvidia/*/lib/libcusparse.so.1[12]", 0};
	void *lib = 0;
	for (int i = 0; names[i] && !lib; i++) {
		lib = try_open(names[i]);
	}
	for (int i = 0; patterns[i] && !lib; i++) {
		lib = try_glob(patterns[i]);
	}
	return lib;
}

static void find(void *lib, const char *name, void *to) {
	*(void **)to = dlsym(lib, name);
	if (!*(void **)to && !reason[0]) {
		snprintf(reason, sizeof reason, "%.300s has no %s", path, name);
	}
}

const char *msrep_sparse_load(void) {
	if (loaded) {
		return reason;
	}
	loaded = 1;
	void *lib = open_library();
	if (!lib) {
		return reason;
	}
	reason[0] = 0;
	find(lib, "cusparseCreate", &api.create);
	find(lib, "cusparseDestroy", &api.destroy);
	find(lib, "cusparseSetStream", &api.set_stream);
	find(lib, "cusparseGetProperty", &api.property);
	find(lib, "cusparseGetErrorString", &api.text);
	find(lib, "cusparseCreateCsr", &api.csr);
	find(lib, "cusparseCreateCoo", &api.coo);
	find(lib, "cusparseDestroySpMat", &api.destroy_matrix);
	find(lib, "cusparseCreateDnVec", &api.vector);
	find(lib, "cusparseDnVecSetValues", &api.set_vector);
	find(lib, "cusparseDestroyDnVec", &api.destroy_vector);
	find(lib, "cusparseSpMV_bufferSize", &api.buffer);
	find(lib, "cusparseSpMV", &api.multiply);
	*(void **)&api.preprocess = dlsym(lib, "cusparseSpMV_preprocess");
	api.op_buffer.found = dlsym(lib, "cusparseSpMVOp_bufferSize");
	api.op_analyse.found = dlsym(lib, "cusparseSpMVOp_createDescr");
	*(void **)&api.op_plan = dlsym(lib, "cusparseSpMVOp_createPlan");
	*(void **)&api.op_multiply = dlsym(lib, "cusparseSpMVOp");
	*(void **)&api.op_drop_plan = dlsym(lib, "cusparseSpMVOp_destroyPlan");
	*(void **)&api.op_drop_analysis = dlsym(lib, "cusparseSpMVOp_destroyDescr");
	*(void **)&api.attribute = dlsym(lib, "cusparseSpMatSetAttribute");
	*(void **)&api.solve_create = dlsym(lib, "cusparseSpSV_createDescr");
	*(void **)&api.solve_destroy = dlsym(lib, "cusparseSpSV_destroyDescr");
	*(void **)&api.solve_buffer = dlsym(lib, "cusparseSpSV_bufferSize");
	*(void **)&api.solve_analyse = dlsym(lib, "cusparseSpSV_analysis");
	*(void **)&api.solve = dlsym(lib, "cusparseSpSV_solve");
	return reason;
}

const char *msrep_sparse_text(int status) { return api.text(status); }

int msrep_sparse_version(int *major, int *minor, int *patch) {
	int s = api.property(0, major);
	s = s ? s : api.property(1, minor);
	return s ? s : api.property(2, patch);
}

int msrep_sparse_create(void **handle) { return api.create(handle); }
int msrep_sparse_destroy(void *handle) { return api.destroy(handle); }
int msrep_sparse_set_stream(void *handle, void *stream) { return api.set_stream(handle, stream); }

int msrep_sparse_csr(void **mat, int64_t rows, int64_t cols, int64_t nnz, uint64_t ptr, uint64_t idx, uint64_t val, int ptr64, int single) {
	return api.csr(mat, rows, cols, nnz, (void *)ptr, (void *)idx, (void *)val, ptr64 ? index64 : index32, index32, base_zero,
		single ? real32 : real64);
}

int msrep_sparse_coo(void **mat, int64_t rows, int64_t cols, int64_t nnz, uint64_t row, uint64_t col, uint64_t val, int single) {
	return api.coo(mat, rows, cols, nnz, (void *)row, (void *)col, (void *)val, index32, base_zero, single ? real32 : real64);
}

int msrep_sparse_destroy_matrix(void *mat) { return api.destroy_matrix(mat); }

int msrep_sparse_vector(void **vec, int64_t n, uint64_t val, int single) {
	return api.vector(vec, n, (void *)val, single ? real32 : real64);
}

int msrep_sparse_set_vector(void *vec, uint64_t val) { return api.set_vector(vec, (void *)val); }
int msrep_sparse_destroy_vector(void *vec) { return api.destroy_vector(vec); }

/* scalar is a factor in the type of the product, in host memory. */
union scalar { double d; float f; };

static union scalar scalar_of(double v, int single) {
	union scalar s;
	if (single) {
		s.f = (float)v;
	} else {
		s.d = v;
	}
	return s;
}

int msrep_sparse_buffer(void *h, int trans, double alpha, void *a, void *x, double beta, void *y, int single, int alg, size_t *bytes) {
	union scalar p = scalar_of(alpha, single), q = scalar_of(beta, single);
	return api.buffer(h, trans, &p, a, x, &q, y, single ? real32 : real64, alg, bytes);
}

int msrep_sparse_preprocess(void *h, int trans, double alpha, void *a, void *x, double beta, void *y, int single, int alg, uint64_t buffer) {
	union scalar p = scalar_of(alpha, single), q = scalar_of(beta, single);
	return api.preprocess ? api.preprocess(h, trans, &p, a, x, &q, y, single ? real32 : real64, alg, (void *)buffer) : 0;
}

int msrep_sparse_multiply(void *h, int trans, double alpha, void *a, void *x, double beta, void *y, int single, int alg, uint64_t buffer) {
	union scalar p = scalar_of(alpha, single), q = scalar_of(beta, single);
	return api.multiply(h, trans, &p, a, x, &q, y, single ? real32 : real64, alg, (void *)buffer);
}

enum { not_transposed = 0, op_default = 0 };

int msrep_sparse_has_op(void) {
	return api.op_buffer.found && api.op_analyse.found && api.op_plan && api.op_multiply && api.op_drop_plan && api.op_drop_analysis;
}

/* since12_8 reports whether the library is 12.8 or newer. */
static int since12_8(void) {
	int major = 0, minor = 0, patch = 0;
	return !msrep_sparse_version(&major, &minor, &patch) && (major > 12 || (major == 12 && minor >= 8));
}

int msrep_sparse_op_buffer(void *h, void *a, void *x, void *y, int single, size_t *bytes) {
	int type = single ? real32 : real64;
	return since12_8() ? api.op_buffer.as12_8(h, not_transposed, a, x, y, y, type, op_default, bytes)
	                   : api.op_buffer.as12_7(h, not_transposed, a, x, y, y, type, bytes);
}

int msrep_sparse_op_create(void *h, void *a, void *x, void *y, int single, uint64_t buffer, void **analysis, void **plan) {
	int type = single ? real32 : real64;
	*analysis = *plan = 0;
	int s = since12_8() ? api.op_analyse.as12_8(h, analysis, not_transposed, a, x, y, y, type, op_default, (void *)buffer)
	                    : api.op_analyse.as12_7(h, analysis, not_transposed, a, x, y, y, type, (void *)buffer);
	return s ? s : api.op_plan(h, *analysis, plan, 0, 0);
}

int msrep_sparse_op_multiply(void *h, void *plan, double alpha, void *x, double beta, void *y, int single) {
	union scalar p = scalar_of(alpha, single), q = scalar_of(beta, single);
	return api.op_multiply(h, plan, &p, &q, x, y, y);
}

int msrep_sparse_op_destroy(void *analysis, void *plan) {
	int s = plan ? api.op_drop_plan(plan) : 0, e = analysis ? api.op_drop_analysis(analysis) : 0;
	return s ? s : e;
}

/* Values of cusparse.h for triangles: attributes and the only algorithm. */
enum { fill_mode = 0, diagonal_type = 1, solve_default = 0, as_stored = 0 };

int msrep_sparse_solves(void) {
	return api.attribute && api.solve_create && api.solve_destroy && api.solve_buffer && api.solve_analyse && api.solve;
}

int msrep_sparse_triangle(void *mat, int upper, int unit) {
	int s = api.attribute(mat, fill_mode, &upper, sizeof upper);
	return s ? s : api.attribute(mat, diagonal_type, &unit, sizeof unit);
}

int msrep_sparse_solve_create(void **solve) { return api.solve_create(solve); }
int msrep_sparse_solve_destroy(void *solve) { return api.solve_destroy(solve); }

int msrep_sparse_solve_buffer(void *h, double alpha, void *a, void *x, void *y, int single, void *solve, size_t *bytes) {
	union scalar p = scalar_of(alpha, single);
	return api.solve_buffer(h, as_stored, &p, a, x, y, single ? real32 : real64, solve_default, solve, bytes);
}

int msrep_sparse_solve_analyse(void *h, double alpha, void *a, void *x, void *y, int single, void *solve, uint64_t buffer) {
	union scalar p = scalar_of(alpha, single);
	return api.solve_analyse(h, as_stored, &p, a, x, y, single ? real32 : real64, solve_default, solve, (void *)buffer);
}

int msrep_sparse_solve(void *h, double alpha, void *a, void *x, void *y, int single, void *solve) {
	union scalar p = scalar_of(alpha, single);
	return api.solve(h, as_stored, &p, a, x, y, single ? real32 : real64, solve_default, solve);
}
