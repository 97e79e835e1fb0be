//go:build cuda

#include <dlfcn.h>

#include "_cgo_export.h"
#include "control.h"

static struct {
	void (*attach)(int (*)(const char *), int (*)(const char *, const char *, unsigned, unsigned, uint64_t *, int));
	void (*reset)(int, size_t, size_t, int, int);
	void (*fail)(const char *, int, int);
	int (*calls)(int, const char **);
	long (*live)(int);
	int (*range)(uint64_t, uint64_t *, uint64_t *);
} lib;

static int params(const char *kernel) { return nvidiatestParams((char *)kernel); }

static int launch(const char *kernel, const char *text, unsigned grid, unsigned block, uint64_t *params, int count) {
	return nvidiatestLaunch((char *)kernel, (char *)text, grid, block, params, count);
}

int nvidiatest_attach(char *path, int hide) {
	void *l = path[0] ? dlopen(path, RTLD_NOW | RTLD_NOLOAD) : 0;
	if (!l) {
		return 1;
	}
	*(void **)&lib.attach = dlsym(l, "mock_attach");
	*(void **)&lib.reset = dlsym(l, "mock_reset");
	*(void **)&lib.fail = dlsym(l, "mock_fail");
	*(void **)&lib.calls = dlsym(l, "mock_calls");
	*(void **)&lib.live = dlsym(l, "mock_live");
	*(void **)&lib.range = dlsym(l, "mock_range");
	if (!lib.attach || !lib.reset || !lib.fail || !lib.calls || !lib.live || !lib.range) {
		return 1;
	}
	lib.attach(params, launch);
	if (hide) {
		lib.reset = 0;
		lib.fail = 0;
		lib.calls = 0;
		lib.live = 0;
	}
	return 0;
}

void nvidiatest_reset(int gpus, size_t bytes, size_t taken, int pools, int peers) { lib.reset(gpus, bytes, taken, pools, peers); }
void nvidiatest_fail(char *name, int nth, int code) { lib.fail(name, nth, code); }
int nvidiatest_calls(int i, char **name) { return lib.calls ? lib.calls(i, (const char **)name) : -1; }
long nvidiatest_live(int kind) { return lib.live(kind); }

void *nvidiatest_range(uint64_t addr, uint64_t *size) {
	uint64_t base;
	return lib.range(addr, &base, size) ? (void *)base : 0;
}
