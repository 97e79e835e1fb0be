/* A driver without a GPU: see doc.go in the folder above. */

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "links.h"
#include "standin.h"

enum {
	ok = 0, invalid_value = 1, out_of_memory = 2, no_device = 100, invalid_device = 101, invalid_context = 201,
	invalid_ptx = 218, peer_enabled = 704, peer_unsupported = 217, not_found = 500, not_ready = 600, invalid_handle = 400, launch_failed = 719, registered = 712, not_registered = 713
};
enum { max_contexts = max_gpus + 64, max_names = 128, max_queue = 1 << 16, max_params = 32 };

static pthread_mutex_t lock;
static __thread int current = -1; /* context of the thread */

/* One object, in a list. */
struct thing {
	struct thing *next;
	enum kind { memory, stream, event, module, pinned, kinds } kind;
	int ctx;
	char *base; /* of memory and pinned ranges */
	int pooled; /* memory of the pool */
	size_t size;
	struct op *first, *last; /* of a stream */
	struct mark *mark;       /* of an event: its last record, 0 before the first */
	char *text;              /* of a module */
	int asked;               /* of a stream or event: the last query found it unfinished */
	int stuck;               /* of a stream: it has waited for a lost context */
};

/* One record of an event. The event, the queued record and all queued waits hold a
 * reference, so a mark can outlive its event. */
struct mark {
	int holders;
	struct thing *stream;
	double when; /* time of completion, 0 before it */
};

struct op {
	struct op *next;
	enum { copy, set, launch, record, wait, free_memory } what;
	char *dst;
	const char *src;
	size_t n;
	int value, lie;    /* lie: see links.c */
	struct mark *mark; /* of record and wait */
	const char *kernel, *text;
	unsigned grid, block, shared;
	uint64_t params[max_params];
	int count;
};

struct function { struct function *next; char *name; struct thing *module; unsigned shared; /* dynamic bytes allowed */ };

/* The primary context of each GPU, then those of cuCtxCreate. peers: contexts whose memory this one may access */
static struct { int retained, gpu, dead, peers[max_contexts]; } contexts[max_contexts];

/* shared: GPUs that may access the pool */
static struct {
	int shared[max_gpus];
	size_t used, kept; /* kept: freed memory that only the pool can allocate again */
} gpus[max_gpus];
static int gpu_count = 2;
static size_t gpu_memory = (size_t)1 << 30, others; /* memory of other programs */
static int pools = 1;
static int running = -1; /* context of the kernel that runs */
/* own: what mock_gpu set for each GPU, 0 for the default */
static struct {
	size_t memory;
	int compute; /* 10 times the capability */
	int refuses; /* the error of opening it */
	double rate; /* bytes of copies on the GPU in a millisecond */
	double clock; /* milliseconds of its work, if it has a rate */
} own[max_gpus];
static int open_time; /* milliseconds to open a context */

static size_t memory_of(int d) { return own[d].memory ? own[d].memory : gpu_memory; }
static struct thing *things;
static struct function *functions;
static long live[kinds], leaked;

static struct { char name[48]; int calls; } names[max_names];
static char fail_name[48];
static int fail_at, fail_code;

static mock_params params_of;
static mock_launch launch_kernel;

__attribute__((constructor)) static void start(void) {
	pthread_mutexattr_t a;
	pthread_mutexattr_init(&a);
	pthread_mutexattr_settype(&a, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&lock, &a);
	if (getenv("MSREP_STANDIN_GPUS")) {
		int n = atoi(getenv("MSREP_STANDIN_GPUS"));
		gpu_count = n > 0 && n <= max_gpus ? n : gpu_count;
	}
}

/* fatal reports whether an error code loses the context. */
static int fatal(int code) { return code == 214 || code == 700 || code == 719 || code == 999; }

/* enter counts a call and returns the result that mock_fail set for it. */
static int enter(const char *name) {
	pthread_mutex_lock(&lock);
	int i = 0;
	while (i < max_names - 1 && names[i].name[0] && strcmp(names[i].name, name)) {
		i++;
	}
	snprintf(names[i].name, sizeof names[i].name, "%s", name);
	names[i].calls++;
	if (fail_at > 0 && !strcmp(name, fail_name) && names[i].calls == fail_at) {
		if (fatal(fail_code) && current >= 0) {
			contexts[current].dead = fail_code;
		}
		return fail_code;
	}
	return ok;
}

static int leave(int code) {
	pthread_mutex_unlock(&lock);
	return code;
}

#define ENTER() do { int e_ = enter(__func__); if (e_) return leave(e_); } while (0)
#define ENTER_CONTEXT() do { ENTER(); \
	if (current < 0 || !contexts[current].retained) return leave(invalid_context); \
	if (contexts[current].dead) return leave(contexts[current].dead); } while (0)
#define DEVICE(d) do { if ((d) < 0 || (d) >= gpu_count) return leave(invalid_device); } while (0)

static int gpu_of(int ctx) { return ctx < max_gpus ? ctx : contexts[ctx].gpu; }

static struct mark *hold(struct mark *m) {
	if (m) {
		m->holders++;
	}
	return m;
}

static void drop(struct mark *m) {
	if (m && --m->holders == 0) {
		free(m);
	}
}

static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e3 + t.tv_nsec * 1e-6;
}

/* stamp returns the time of an event of a GPU. If the GPU has a rate, only its work takes time. */
static double stamp(int d) { return own[d].rate > 0 ? 1 + own[d].clock : now(); }

static struct thing *make(enum kind kind) {
	struct thing *t = calloc(1, sizeof *t);
	t->kind = kind;
	t->ctx = current;
	t->next = things;
	things = t;
	live[kind]++;
	return t;
}

static void destroy(struct thing *t) {
	struct thing **p = &things;
	while (*p && *p != t) {
		p = &(*p)->next;
	}
	if (!*p) {
		return;
	}
	*p = t->next;
	live[t->kind]--;
	while (t->first) {
		struct op *o = t->first;
		t->first = o->next;
		if (o->what == record) { /* the work is dropped, so that nothing waits for it */
			o->mark->when = now();
		}
		drop(o->mark);
		free(o);
	}
	drop(t->mark);
	if (t->kind == memory) {
		gpus[gpu_of(t->ctx)].used -= t->size;
		gpus[gpu_of(t->ctx)].kept += t->pooled ? t->size : 0;
		links_forget(t->base, t->size);
		free(t->base);
	}
	free(t->text);
	free(t);
}

static int known(const struct thing *t, enum kind kind) {
	for (struct thing *p = things; p; p = p->next) {
		if (p == t) {
			return p->kind == kind;
		}
	}
	return 0;
}

/* within finds the object that contains the range [p, p+n). */
static struct thing *within(enum kind kind, const char *p, size_t n) {
	for (struct thing *t = things; t; t = t->next) {
		if (t->kind == kind && p >= t->base && p + n <= t->base + t->size) {
			return t;
		}
	}
	return 0;
}

/* reaches reports whether work of a context may access memory: its own, or that of a peer. */
static int reaches(int ctx, const struct thing *t) {
	return t->ctx == ctx || (t->pooled && gpu_of(t->ctx) != gpu_of(ctx) ? gpus[gpu_of(t->ctx)].shared[gpu_of(ctx)] : contexts[ctx].peers[t->ctx]);
}

static int put(struct thing *s, struct op o) {
	struct op *p = malloc(sizeof *p);
	*p = o;
	p->next = 0;
	if (s->last && s->first) {
		s->last->next = p;
	} else {
		s->first = p;
	}
	s->last = p;
	return ok;
}

/* drain does the delayed work of a stream, in order; if until is given, only up to that
 * record. Other streams do only the work that this work waits for. If that work never
 * ends, because its context is lost, drain returns not_ready. */
static int drain(struct thing *s, const struct mark *until) {
	double begin;
	if (contexts[s->ctx].dead) {
		return contexts[s->ctx].dead;
	}
	while (s->first && !(until && until->when)) {
		struct op *o = s->first;
		s->first = o->next;
		int e = ok;
		switch (o->what) {
		case copy:
			links_copy(o->dst, o->src, o->n, o->lie);
			own[gpu_of(s->ctx)].clock += own[gpu_of(s->ctx)].rate > 0 ? o->n / own[gpu_of(s->ctx)].rate : 0;
			break;
		case set:
			memset(o->dst, o->value, o->n);
			break;
		case launch:
			begin = now();
			running = s->ctx;
			e = launch_kernel ? launch_kernel(o->kernel, o->text, o->grid, o->block, o->shared, o->params, o->count) : launch_failed;
			running = -1;
			own[gpu_of(s->ctx)].clock += now() - begin;
			break;
		case record:
			o->mark->when = stamp(gpu_of(s->ctx));
			break;
		case wait:
			if (!o->mark->when) {
				drain(o->mark->stream, o->mark); /* a failure is reported on that stream */
			}
			if (!o->mark->when) {
				s->first = o;
				s->stuck = 1;
				return not_ready;
			}
			break;
		case free_memory: {
			struct thing *t = within(memory, o->dst, 1);
			if (t) {
				destroy(t);
			}
			break;
		}
		}
		drop(o->mark);
		free(o);
		if (e) {
			contexts[s->ctx].dead = e;
			return e;
		}
	}
	return ok;
}

/* settle is drain, but waits for ever for work that never ends. The lock is held once. */
static int settle(struct thing *s, const struct mark *until) {
	int e;
	while ((e = drain(s, until)) == not_ready) {
		pthread_mutex_unlock(&lock);
		usleep(1000);
		pthread_mutex_lock(&lock);
		if (!known(s, stream)) {
			return invalid_handle;
		}
	}
	return e;
}

/* ---- control ---- */

void mock_reset(int count, size_t bytes, size_t taken, int with_pools, int with_peers) {
	pthread_mutex_lock(&lock);
	while (things) {
		destroy(things);
	}
	while (functions) {
		struct function *f = functions;
		functions = f->next;
		free(f->name);
		free(f);
	}
	memset(gpus, 0, sizeof gpus);
	memset(contexts, 0, sizeof contexts);
	memset(names, 0, sizeof names);
	memset(live, 0, sizeof live);
	leaked = 0;
	fail_at = 0;
	memset(own, 0, sizeof own);
	open_time = 0;
	gpu_count = count;
	gpu_memory = bytes;
	others = taken;
	pools = with_pools;
	links_reset(with_peers);
	pthread_mutex_unlock(&lock);
}

void mock_attach(mock_params p, mock_launch l) {
	params_of = p;
	launch_kernel = l;
}

void mock_fail(const char *name, int nth, int code) {
	pthread_mutex_lock(&lock);
	snprintf(fail_name, sizeof fail_name, "%s", name);
	fail_at = nth;
	fail_code = code;
	memset(names, 0, sizeof names);
	pthread_mutex_unlock(&lock);
}

void mock_gpu(int d, size_t bytes, int compute, int refuses, double rate) {
	pthread_mutex_lock(&lock);
	own[d].memory = bytes;
	own[d].compute = compute;
	own[d].refuses = refuses;
	own[d].rate = rate;
	pthread_mutex_unlock(&lock);
}

void mock_open_time(int ms) { open_time = ms; }

void mock_lose_gpu(int d, int code) {
	pthread_mutex_lock(&lock);
	contexts[d].dead = code;
	pthread_mutex_unlock(&lock);
}

int mock_calls(int i, const char **name) {
	if (i >= max_names || !names[i].name[0]) {
		return -1;
	}
	*name = names[i].name;
	return names[i].calls;
}

long mock_live(int kind) { return kind > kinds + max_contexts ? -1 : kind < kinds ? live[kind] : kind == kinds ? leaked : contexts[kind - kinds - 1].retained; }

int mock_range(uint64_t addr, uint64_t *base, uint64_t *size, void **bytes) {
	pthread_mutex_lock(&lock);
	struct thing *t = within(memory, (char *)addr, 1);
	if (t && running >= 0 && !reaches(running, t)) {
		t = 0;
	}
	if (t) {
		*base = (uint64_t)t->base;
		*size = t->size;
		*bytes = t->base;
		if (running >= 0) {
			*bytes = links_read(gpu_of(t->ctx), gpu_of(running), t->base, t->size, t->pooled);
		}
	}
	pthread_mutex_unlock(&lock);
	return t != 0;
}

int mock_stream(const void *s) {
	pthread_mutex_lock(&lock);
	return leave(known(s, stream));
}

int mock_drain_all(void) {
	pthread_mutex_lock(&lock);
	int e = ok;
	for (struct thing *t = things; t && !e; t = t->next) {
		if (t->kind == stream) {
			int r = drain(t, 0);
			e = t->ctx == current ? r : ok; /* failures of other contexts are not reported here */
		}
	}
	return leave(e);
}

int mock_enter(const char *name) { return enter(name); }
void mock_leave(void) { pthread_mutex_unlock(&lock); }
void mock_lose(int code) { contexts[current].dead = code; }
void mock_count(int n) { live[module] += n; }

/* ---- the driver ---- */

int cuInit(unsigned flags) { ENTER(); return leave(flags ? invalid_value : ok); }
int cuDriverGetVersion(int *v) { ENTER(); *v = 12040; return leave(ok); }

int cuGetErrorString(int code, const char **s) {
	static const struct { int code; const char *text; } all[] = {
		{invalid_value, "invalid argument"}, {out_of_memory, "out of memory"}, {invalid_context, "invalid device context"},
		{invalid_device, "invalid device ordinal"}, {no_device, "no CUDA-capable device is detected"}, {400, "invalid resource handle"},
		{invalid_ptx, "a PTX JIT compilation failed"}, {registered, "part or all of the requested memory range is already mapped"},
		{700, "an illegal memory access was encountered"}, {716, "misaligned address"}, {719, "unspecified launch failure"}, {999, "unknown error"}};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		if (all[i].code == code) {
			*s = all[i].text;
			return ok;
		}
	}
	*s = 0;
	return invalid_value;
}

int cuDeviceGetCount(int *n) { ENTER(); *n = gpu_count; return leave(ok); }
int cuDeviceGet(int *d, int i) { ENTER(); DEVICE(i); *d = i; return leave(ok); }

int cuDeviceGetName(char *s, int n, int d) {
	ENTER();
	DEVICE(d);
	snprintf(s, n, own[d].rate > 0 ? "no GPU, interpreted, %.0f MB/s" : "no GPU, interpreted", own[d].rate / 1e3);
	return leave(ok);
}

int cuDeviceGetPCIBusId(char *s, int n, int d) {
	ENTER();
	DEVICE(d);
	const char *own = getenv("MSREP_STANDIN_PCI"); /* addresses of 12 characters, separated by commas */
	if (own && strlen(own) >= (size_t)(13 * d + 12)) {
		snprintf(s, n, "%.12s", own + 13 * d);
	} else {
		snprintf(s, n, "0000:%02X:00.0", 0x1a + d);
	}
	return leave(ok);
}

int cuDeviceTotalMem_v2(size_t *n, int d) { ENTER(); DEVICE(d); *n = memory_of(d); return leave(ok); }

int cuDeviceGetAttribute(int *v, int attribute, int d) {
	ENTER();
	DEVICE(d);
	switch (attribute) {
	case 16: *v = 4; break;         /* multiprocessors */
	case 38: *v = 1 << 20; break;   /* L2 */
	case 75: *v = own[d].compute ? own[d].compute / 10 : 7; break; /* compute capability */
	case 76: *v = own[d].compute % 10; break;
	case 97: *v = 99 << 10; break; /* shared memory of a block */
	case 115: *v = pools; break;
	default: *v = 0;
	}
	return leave(ok);
}

int cuDeviceCanAccessPeer(int *yes, int d, int peer) { ENTER(); DEVICE(d); DEVICE(peer); *yes = links_between(d, peer)->access; return leave(ok); }

int cuDeviceGetP2PAttribute(int *v, int attribute, int d, int peer) {
	ENTER();
	DEVICE(d);
	DEVICE(peer);
	const struct link *l = links_between(d, peer);
	switch (d == peer ? 0 : attribute) {
	case 1: *v = l->rank; return leave(ok);
	case 2: *v = l->access; return leave(ok);
	case 3: *v = l->atomics; return leave(ok);
	}
	return leave(d == peer ? invalid_device : invalid_value);
}

/* The handle of a context is its number, from 1. */
int cuDevicePrimaryCtxRetain(void **ctx, int d) {
	usleep(1000 * open_time);
	ENTER();
	DEVICE(d);
	if (own[d].refuses) {
		return leave(own[d].refuses);
	}
	contexts[d].retained++;
	*ctx = (void *)(intptr_t)(d + 1);
	return leave(ok);
}

/* end_context frees everything of a context. */
static void end_context(int c) {
	int was_dead = contexts[c].dead; /* or left because of a stuck stream */
	for (struct thing *t = things; t; t = t->next) {
		was_dead |= t->ctx == c && t->stuck;
	}
	int g = gpu_of(c), others = 0;
	for (struct thing *t = things, *next; t; t = next) { /* pinned memory belongs to the process */
		next = t->next;
		if (t->ctx == c && t->kind != pinned) {
			leaked += !was_dead;
			destroy(t);
		}
	}
	memset(&contexts[c], 0, sizeof contexts[c]);
	for (int i = 0; i < max_contexts; i++) {
		contexts[i].peers[c] = 0;
		others += contexts[i].retained && gpu_of(i) == g;
	}
	if (!others) {
		memset(&gpus[g], 0, sizeof gpus[g]);
	}
}

int cuDevicePrimaryCtxRelease_v2(int d) {
	ENTER();
	DEVICE(d);
	if (contexts[d].retained == 0) {
		return leave(invalid_context);
	}
	if (--contexts[d].retained == 0) {
		end_context(d);
	}
	return leave(ok);
}

int cuCtxCreate_v2(void **ctx, unsigned flags, int d) {
	ENTER();
	DEVICE(d);
	int c = max_gpus;
	while (c < max_contexts && contexts[c].retained) {
		c++;
	}
	if (flags || c == max_contexts) {
		return leave(flags ? invalid_value : out_of_memory);
	}
	contexts[c].retained = 1;
	contexts[c].gpu = d;
	current = c; /* as the driver does */
	*ctx = (void *)(intptr_t)(c + 1);
	return leave(ok);
}
int cuCtxCreate_v4(void **ctx, void *how, unsigned flags, int d) { return how ? invalid_value : cuCtxCreate_v2(ctx, flags, d); }

int cuCtxDestroy_v2(void *ctx) {
	ENTER();
	int c = (int)(intptr_t)ctx - 1;
	if (c < max_gpus || c >= max_contexts || !contexts[c].retained) {
		return leave(invalid_context);
	}
	end_context(c);
	if (current == c) {
		current = -1;
	}
	return leave(ok);
}

int cuCtxSetCurrent(void *ctx) {
	ENTER();
	int c = (int)(intptr_t)ctx - 1;
	if (c >= max_contexts || (c >= 0 && !contexts[c].retained)) {
		return leave(invalid_context);
	}
	current = c;
	return leave(ok);
}

int cuCtxEnablePeerAccess(void *ctx, unsigned flags) {
	ENTER_CONTEXT();
	int c = (int)(intptr_t)ctx - 1;
	if (flags || c < 0 || c >= max_contexts || c == current || !contexts[c].retained) {
		return leave(c == current ? invalid_context : invalid_value);
	}
	if (!links_between(gpu_of(current), gpu_of(c))->access) {
		return leave(peer_unsupported);
	}
	if (contexts[current].peers[c]) {
		return leave(peer_enabled);
	}
	contexts[current].peers[c] = 1;
	return leave(ok);
}

static int allocate(uint64_t *p, size_t n, int pooled) {
	if (n == 0) {
		return invalid_value;
	}
	int g = gpu_of(current);
	size_t left = memory_of(g) - others - gpus[g].used, kept = gpus[g].kept;
	if (n > (pooled ? left : left - kept)) {
		return out_of_memory;
	}
	if (pooled) {
		gpus[g].kept = kept > n ? kept - n : 0;
	}
	size_t round = (n + 255) / 256 * 256;
	char *base = aligned_alloc(256, round);
	if (!base) {
		return out_of_memory;
	}
	memset(base, 0xd5, round); /* fresh memory has arbitrary contents */
	struct thing *t = make(memory);
	t->base = base;
	t->size = n;
	t->pooled = pooled;
	gpus[g].used += n;
	*p = (uint64_t)base;
	return ok;
}

int cuMemAlloc_v2(uint64_t *p, size_t n) { ENTER_CONTEXT(); return leave(allocate(p, n, 0)); }

int cuMemFree_v2(uint64_t p) {
	ENTER_CONTEXT();
	struct thing *t = within(memory, (char *)p, 1);
	if (!t || t->base != (char *)p) {
		return leave(invalid_value);
	}
	int e;
	while ((e = mock_drain_all()) == not_ready) { /* as the driver does */
		pthread_mutex_unlock(&lock);
		usleep(1000);
		pthread_mutex_lock(&lock);
	}
	destroy(t);
	return leave(e);
}

int cuMemAllocAsync(uint64_t *p, size_t n, struct thing *s) {
	ENTER_CONTEXT();
	return leave(pools && known(s, stream) ? allocate(p, n, 1) : invalid_value);
}

int cuMemFreeAsync(uint64_t p, struct thing *s) {
	ENTER_CONTEXT();
	struct thing *t = within(memory, (char *)p, 1);
	if (!pools || !known(s, stream) || !t || t->base != (char *)p) {
		return leave(invalid_value);
	}
	return leave(put(s, (struct op){.what = free_memory, .dst = (char *)p}));
}

int cuDeviceGetDefaultMemPool(void **pool, int d) { ENTER(); DEVICE(d); *pool = (void *)(intptr_t)(d + 1); return leave(ok); }

int cuMemGetInfo_v2(size_t *left, size_t *total) {
	ENTER_CONTEXT();
	*left = memory_of(gpu_of(current)) - others - gpus[gpu_of(current)].used - gpus[gpu_of(current)].kept;
	*total = memory_of(gpu_of(current));
	return leave(ok);
}

int cuMemPoolGetAttribute(void *pool, int a, uint64_t *v) {
	ENTER();
	int d = (int)(intptr_t)pool - 1;
	DEVICE(d);
	if (a != 5 && a != 7) { /* reserved memory, and used memory */
		return leave(invalid_value);
	}
	*v = a == 5 ? gpus[d].kept : 0;
	for (struct thing *t = things; t; t = t->next) {
		*v += t->kind == memory && gpu_of(t->ctx) == d && t->pooled ? t->size : 0;
	}
	return leave(ok);
}

int cuMemPoolSetAttribute(void *pool, int a, void *v) { ENTER(); return leave(pool && a == 4 && v ? ok : invalid_value); }
struct access { int type, id, flags; }; /* CUmemAccessDesc */

int cuMemPoolSetAccess(void *pool, const struct access *a, size_t n) {
	ENTER();
	int d = (int)(intptr_t)pool - 1;
	DEVICE(d);
	if (n != 1 || a->type != 1 || a->flags != 3 || a->id == d || a->id < 0 || a->id >= gpu_count || !links_between(a->id, d)->access) {
		return leave(invalid_value);
	}
	gpus[d].shared[a->id] = 1;
	return leave(ok);
}

int cuMemPoolTrimTo(void *pool, size_t n) {
	ENTER();
	int d = (int)(intptr_t)pool - 1;
	DEVICE(d);
	if (gpus[d].kept > n) {
		gpus[d].kept = n;
	}
	return leave(ok);
}

/* writable reports whether the program may write to an address. */
static int writable(const void *p) {
	FILE *f = fopen("/proc/self/maps", "r");
	uintptr_t at = (uintptr_t)p, lo, hi;
	char may[5] = "";
	int yes = 0;
	while (f && fscanf(f, "%lx-%lx %4s%*[^\n]", &lo, &hi, may) == 3) {
		yes |= at >= lo && at < hi && may[1] == 'w';
	}
	if (f) {
		fclose(f);
	}
	return yes;
}

/* The first byte of the page of an address. */
static uintptr_t page_of(const char *p) { return (uintptr_t)p & ~(uintptr_t)(sysconf(_SC_PAGESIZE) - 1); }

/* Read-only memory needs the read-only flag, and a page can be pinned only once. */
int cuMemHostRegister_v2(void *p, size_t n, unsigned flags) {
	ENTER_CONTEXT();
	if (n == 0 || (flags != 1 && flags != 9) || (flags == 1 && !writable(p))) {
		return leave(invalid_value);
	}
	for (struct thing *t = things; t; t = t->next) {
		if (t->kind == pinned && page_of(p) <= page_of(t->base + t->size - 1) && page_of((char *)p + n - 1) >= page_of(t->base)) {
			return leave(registered);
		}
	}
	struct thing *t = make(pinned);
	t->base = p;
	t->size = n;
	return leave(ok);
}

int cuMemHostUnregister(void *p) {
	ENTER();
	struct thing *t = within(pinned, p, 1);
	if (!t || t->base != p) {
		return leave(not_registered);
	}
	int e = mock_drain_all(); /* running copies end first */
	(void)e;
	destroy(t);
	return leave(ok);
}

int cuMemHostAlloc(void **p, size_t n, unsigned flags) {
	ENTER_CONTEXT();
	(void)flags;
	/* malloc could return pages on another node, so map new ones. */
	*p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (*p == MAP_FAILED) {
		*p = NULL;
		return leave(out_of_memory);
	}
	memset(*p, 0xa5, n); /* pinned pages are allocated at once, by the calling thread */
	struct thing *t = make(pinned);
	t->base = *p;
	t->size = n;
	return leave(ok);
}

int cuMemFreeHost(void *p) {
	pthread_mutex_lock(&lock);
	struct thing *t = within(pinned, p, 1);
	size_t n = t ? t->size : 0;
	pthread_mutex_unlock(&lock);
	int e = cuMemHostUnregister(p);
	if (!e) {
		munmap(p, n);
	}
	return e;
}

int cuPointerGetAttribute(void *v, int attribute, uint64_t p) {
	ENTER();
	struct thing *t = within(pinned, (char *)p, 1);
	unsigned type = t ? 1 : 2;
	if (!t && !(t = within(memory, (char *)p, 1))) {
		return leave(invalid_value);
	}
	switch (attribute) {
	case 2:
		*(unsigned *)v = type;
		return leave(ok);
	case 9:
		*(int *)v = gpu_of(t->ctx);
		return leave(ok);
	case 11:
		*(char **)v = t->base;
		return leave(ok);
	case 12:
		*(size_t *)v = t->size;
		return leave(ok);
	}
	return leave(invalid_value);
}

/* on_gpu reports whether a range is memory of the current GPU, or of a peer. */
static int on_gpu(uint64_t p, size_t n) {
	struct thing *t = within(memory, (char *)p, n);
	return t && reaches(current, t);
}

int cuMemsetD8Async(uint64_t p, unsigned char value, size_t n, struct thing *s) {
	ENTER_CONTEXT();
	if (!known(s, stream) || !on_gpu(p, n)) {
		return leave(invalid_value);
	}
	return leave(put(s, (struct op){.what = set, .dst = (char *)p, .value = value, .n = n}));
}

int cuMemcpyHtoDAsync_v2(uint64_t dst, const void *src, size_t n, struct thing *s) {
	ENTER_CONTEXT();
	if (!known(s, stream) || !on_gpu(dst, n) || !within(pinned, src, n)) {
		return leave(invalid_value);
	}
	return leave(put(s, (struct op){.what = copy, .dst = (char *)dst, .src = src, .n = n}));
}

int cuMemcpyDtoHAsync_v2(void *dst, uint64_t src, size_t n, struct thing *s) {
	ENTER_CONTEXT();
	if (!known(s, stream) || !on_gpu(src, n) || !within(pinned, dst, n)) {
		return leave(invalid_value);
	}
	return leave(put(s, (struct op){.what = copy, .dst = dst, .src = (char *)src, .n = n}));
}

int cuMemcpyDtoDAsync_v2(uint64_t dst, uint64_t src, size_t n, struct thing *s) {
	ENTER_CONTEXT();
	if (!known(s, stream) || !on_gpu(dst, n) || !on_gpu(src, n) || (dst < src + n && src < dst + n)) {
		return leave(invalid_value);
	}
	return leave(put(s, (struct op){.what = copy, .dst = (char *)dst, .src = (char *)src, .n = n}));
}

int cuMemcpyPeerAsync(uint64_t dst, void *dst_ctx, uint64_t src, void *src_ctx, size_t n, struct thing *s) {
	ENTER_CONTEXT();
	struct thing *to = within(memory, (char *)dst, n), *from = within(memory, (char *)src, n);
	if (!known(s, stream) || s->ctx != current || !to || !from || to->ctx != (int)(intptr_t)dst_ctx - 1 || from->ctx != (int)(intptr_t)src_ctx - 1) {
		return leave(invalid_value);
	}
	int direct = reaches(current, to) && reaches(current, from), lie = 0; /* otherwise through the host */
	if (direct && gpu_of(to->ctx) != gpu_of(from->ctx)) {
		lie = links_lie(gpu_of(from->ctx), gpu_of(to->ctx), to->ctx == current ? lie_pull : lie_push, from->pooled);
	}
	return leave(put(s, (struct op){.what = copy, .dst = (char *)dst, .src = (char *)src, .n = n, .lie = lie}));
}

int cuCtxSetLimit(int limit, size_t n) { ENTER_CONTEXT(); return leave(limit == 5 && n <= 128 ? ok : invalid_value); }

int cuProfilerStart(void) { ENTER_CONTEXT(); return leave(ok); }
int cuProfilerStop(void) { ENTER_CONTEXT(); return leave(ok); }

int cuStreamCreate(struct thing **s, unsigned flags) { ENTER_CONTEXT(); (void)flags; *s = make(stream); return leave(ok); }

int cuStreamDestroy_v2(struct thing *s) {
	ENTER_CONTEXT();
	if (!known(s, stream)) {
		return leave(invalid_handle);
	}
	int e = drain(s, 0);
	destroy(s);
	return leave(e == not_ready ? ok : e); /* the driver releases it when its work is done */
}

int cuStreamSynchronize(struct thing *s) { ENTER_CONTEXT(); return leave(known(s, stream) ? settle(s, 0) : invalid_handle); }

/* The list of streams is searched anew after each wait, because others may change it meanwhile. */
int cuCtxSynchronize(void) {
	ENTER_CONTEXT();
	for (struct thing *t = things; t;) {
		if (t->kind == stream && t->ctx == current && t->first) {
			int e = settle(t, 0);
			if (e && e != invalid_handle) {
				return leave(e);
			}
			t = things;
			continue;
		}
		t = t->next;
	}
	return leave(ok);
}

/* Every other query of a stream finds its work unfinished. */
int cuStreamQuery(struct thing *s) {
	ENTER_CONTEXT();
	if (!s) {
		return leave(ok); /* the default stream, which has no work here */
	}
	if (!known(s, stream)) {
		return leave(invalid_handle);
	}
	if (s->first && (s->asked = !s->asked)) {
		return leave(not_ready);
	}
	return leave(drain(s, 0));
}

int cuStreamWaitEvent(struct thing *s, struct thing *e, unsigned flags) {
	ENTER_CONTEXT();
	if (flags || !known(s, stream) || !known(e, event)) {
		return leave(invalid_handle);
	}
	if (!e->mark) { /* as the manual says */
		return leave(ok);
	}
	return leave(put(s, (struct op){.what = wait, .mark = hold(e->mark)}));
}

int cuEventCreate(struct thing **e, unsigned flags) { ENTER_CONTEXT(); (void)flags; *e = make(event); return leave(ok); }

/* Queued records still happen, because other streams may wait for them. */
int cuEventDestroy_v2(struct thing *e) {
	ENTER_CONTEXT();
	if (!known(e, event)) {
		return leave(invalid_handle);
	}
	destroy(e);
	return leave(ok);
}

int cuEventRecord(struct thing *e, struct thing *s) {
	ENTER_CONTEXT();
	if (!known(s, stream) || !known(e, event) || s->ctx != e->ctx) {
		return leave(invalid_handle);
	}
	drop(e->mark);
	e->mark = hold(calloc(1, sizeof *e->mark));
	e->mark->stream = s;
	return leave(put(s, (struct op){.what = record, .mark = hold(e->mark)}));
}

static int pending(const struct thing *e) { return e->mark && !e->mark->when; }

int cuEventSynchronize(struct thing *e) {
	ENTER_CONTEXT();
	if (!known(e, event)) {
		return leave(invalid_handle);
	}
	return leave(pending(e) ? settle(e->mark->stream, e->mark) : ok);
}

/* Every other query of an event finds the work before it unfinished. */
int cuEventQuery(struct thing *e) {
	ENTER_CONTEXT();
	if (!known(e, event)) {
		return leave(invalid_handle);
	}
	if (pending(e) && (e->asked = !e->asked)) {
		return leave(not_ready);
	}
	return leave(pending(e) ? drain(e->mark->stream, e->mark) : ok);
}

int cuEventElapsedTime(float *ms, struct thing *a, struct thing *b) {
	ENTER_CONTEXT();
	if (!known(a, event) || !known(b, event) || !a->mark || !b->mark) {
		return leave(invalid_handle);
	}
	if (pending(a) || pending(b)) {
		return leave(not_ready);
	}
	*ms = (float)(b->mark->when - a->mark->when);
	return leave(ok);
}
int cuEventElapsedTime_v2(float *ms, struct thing *a, struct thing *b) { return cuEventElapsedTime(ms, a, b); }

int cuModuleLoadDataEx(struct thing **m, const void *image, unsigned n, const int *options, void **values) {
	ENTER_CONTEXT();
	if (!strstr(image, ".version")) {
		for (unsigned i = 0; i + 1 < n; i++) {
			if (options[i] == 5 && options[i + 1] == 6) { /* the log of errors and its size */
				snprintf(values[i], (size_t)values[i + 1], "line 1; missing .version directive\n");
			}
		}
		return leave(invalid_ptx);
	}
	*m = make(module);
	(*m)->text = strdup(image);
	return leave(ok);
}

int cuModuleUnload(struct thing *m) {
	ENTER_CONTEXT();
	if (!known(m, module)) {
		return leave(invalid_handle);
	}
	destroy(m);
	return leave(ok);
}

int cuModuleGetFunction(struct function **f, struct thing *m, const char *name) {
	ENTER_CONTEXT();
	char entry[128];
	snprintf(entry, sizeof entry, ".entry %s(", name);
	if (!known(m, module) || !strstr(m->text, entry)) {
		return leave(not_found);
	}
	*f = calloc(1, sizeof **f);
	(*f)->name = strdup(name);
	(*f)->module = m;
	(*f)->shared = 48 << 10;
	(*f)->next = functions;
	functions = *f;
	return leave(ok);
}

int cuFuncSetAttribute(struct function *f, int attribute, int v) {
	ENTER_CONTEXT();
	if (!known(f->module, module) || attribute != 8 || v < 0 || v > 99 << 10) {
		return leave(invalid_value);
	}
	f->shared = v;
	return leave(ok);
}

int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, struct function *f, int threads, size_t shared) {
	ENTER_CONTEXT();
	if (!known(f->module, module) || threads < 1 || shared) {
		return leave(invalid_value);
	}
	*blocks = 2;
	return leave(ok);
}

int cuLaunchKernel(struct function *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
	struct thing *s, void **params, void **extra) {
	ENTER_CONTEXT();
	if (!known(s, stream) || !known(f->module, module) || f->module->ctx != current || gy * gz * by * bz != 1 || !gx || !bx || shared > f->shared || extra) {
		return leave(invalid_value);
	}
	struct op o = {.what = launch, .kernel = f->name, .text = f->module->text, .grid = gx, .block = bx, .shared = shared};
	o.count = params_of ? params_of(f->name) : 0;
	if (o.count > max_params) {
		return leave(invalid_value);
	}
	for (int i = 0; i < o.count; i++) {
		memcpy(&o.params[i], params[i], sizeof o.params[i]);
	}
	put(s, o);
	return leave(getenv("CUDA_LAUNCH_BLOCKING") ? settle(s, 0) : ok); /* as the driver does */
}
