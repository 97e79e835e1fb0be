//go:build cuda

#include <dlfcn.h>

#include "_cgo_export.h"
#include "control.h"

static struct {
	void (*attach)(int (*)(const char *), int (*)(const char *, const char *, unsigned, unsigned, unsigned, uint64_t *, int));
	void (*reset)(int, size_t, size_t, int, int);
	void (*gpu)(int, size_t, int, int, double);
	void (*open_time)(int);
	void (*lose)(int, int);
	void (*fail)(const char *, int, int);
	int (*calls)(int, const char **);
	long (*live)(int);
	int (*range)(uint64_t, uint64_t *, uint64_t *, void **);
	int (*machine)(const char *);
	void (*lie)(int, int, int);
} lib;

static int params(const char *kernel) { return nvidiatestParams((char *)kernel); }

static int launch(const char *kernel, const char *text, unsigned grid, unsigned block, unsigned shared, uint64_t *params, int count) {
	return nvidiatestLaunch((char *)kernel, (char *)text, grid, block, shared, params, count);
}

int nvidiatest_attach(char *path, int hide) {
	void *l = path[0] ? dlopen(path, RTLD_NOW) : 0;
	if (!l) {
		return 1;
	}
	*(void **)&lib.attach = dlsym(l, "mock_attach");
	*(void **)&lib.reset = dlsym(l, "mock_reset");
	*(void **)&lib.gpu = dlsym(l, "mock_gpu");
	*(void **)&lib.open_time = dlsym(l, "mock_open_time");
	*(void **)&lib.lose = dlsym(l, "mock_lose_gpu");
	*(void **)&lib.fail = dlsym(l, "mock_fail");
	*(void **)&lib.calls = dlsym(l, "mock_calls");
	*(void **)&lib.live = dlsym(l, "mock_live");
	*(void **)&lib.range = dlsym(l, "mock_range");
	*(void **)&lib.machine = dlsym(l, "mock_machine");
	*(void **)&lib.lie = dlsym(l, "mock_lie");
	if (!lib.machine || !lib.lie || !lib.attach || !lib.reset || !lib.gpu || !lib.open_time || !lib.lose || !lib.fail || !lib.calls || !lib.live || !lib.range) {
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
void nvidiatest_gpu(int gpu, size_t bytes, int compute, int refuses, double rate) { lib.gpu(gpu, bytes, compute, refuses, rate); }
void nvidiatest_open_time(int ms) { lib.open_time(ms); }
void nvidiatest_lose(int gpu, int code) { lib.lose(gpu, code); }
void nvidiatest_fail(char *name, int nth, int code) { lib.fail(name, nth, code); }
int nvidiatest_calls(int i, char **name) { return lib.calls ? lib.calls(i, (const char **)name) : -1; }
long nvidiatest_live(int kind) { return lib.live(kind); }

int nvidiatest_machine(char *name) { return lib.machine(name); }
void nvidiatest_lie(int from, int to, int how) { lib.lie(from, to, how); }

void *nvidiatest_range(uint64_t addr, uint64_t *base, uint64_t *size) {
	void *bytes = 0;
	return lib.range(addr, base, size, &bytes) ? bytes : 0;
}
