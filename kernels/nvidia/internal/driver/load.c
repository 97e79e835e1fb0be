//go:build cuda

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "load.h"

/* missing replaces functions that the driver lacks. It returns CUDA_ERROR_NOT_FOUND. */
static int missing(void) { return 500; }

/* The addresses that the entries of entry_*.S jump to, in the order of symbols.h. */
#define X(name) (void *)missing,
void *msrep_cuda_table[] = {
#include "symbols.h"
};
#undef X

#define X(name) #name,
static const char *const names[] = {
#include "symbols.h"
};
#undef X

enum { no_device = 100 }; /* CUDA_ERROR_NO_DEVICE */

static char path[256], reason[512];
static int result = no_device;

const char *msrep_cuda_reason(void) { return reason; }

/* open_driver opens MSREP_LIBCUDA if it is set, else tries the usual files. */
static void *open_driver(void) {
	const char *usual[] = {"libcuda.so.1", "/usr/local/nvidia/lib64/libcuda.so.1", "/usr/local/nvidia/lib/libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1", 0};
	const char *own[] = {getenv("MSREP_LIBCUDA"), 0};
	const char **list = own[0] && own[0][0] ? own : usual;
	for (int i = 0; list[i]; i++) {
		void *lib = dlopen(list[i], RTLD_NOW | RTLD_LOCAL);
		if (lib) {
			snprintf(path, sizeof path, "%s", list[i]);
			return lib;
		}
		if (i == 0) {
			snprintf(reason, sizeof reason, "no NVIDIA driver: %s", dlerror());
		}
	}
	return 0;
}

/* cuInit is called only by gorgonia.org/cu, when the program starts: it does nothing.
 * msrep_cuda_start starts the driver, when the program asks for a GPU. */
int cuInit(unsigned int flags) {
	(void)flags;
	return 0;
}

static void start(void) {
	void *lib = open_driver();
	if (!lib) {
		return;
	}
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		void *f = dlsym(lib, names[i]);
		if (f) {
			msrep_cuda_table[i] = f;
		}
	}
	int (*init)(unsigned int) = (int (*)(unsigned int))dlsym(lib, "cuInit");
	result = init ? init(0) : missing();
	reason[0] = 0;
	if (result) {
		int (*text)(int, const char **) = (int (*)(int, const char **))dlsym(lib, "cuGetErrorString");
		const char *s = 0;
		if (!text || text(result, &s) || !s) {
			s = "unknown error";
		}
		snprintf(reason, sizeof reason, "the driver %s does not start: error %d, %s", path, result, s);
	}
}

int msrep_cuda_start(void) {
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, start);
	return result;
}
