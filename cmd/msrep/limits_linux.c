//go:build cgo && linux

// Checks the limits of address space (ulimit -v) and of data (ulimit -d) before Go's runtime starts. The runtime ends
// the process with a trace when it has too little memory or cannot create a thread. A glibc thread takes 8 MB of
// address space for its stack and 64 MB or more for malloc. Under a limit, threads get a small stack here and share
// one heap.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

// START_ADDRESSES and START_DATA are the bytes that Go's runtime takes before main starts, on machines with 64-bit
// addresses. Measured with Go 1.26, whose heap starts anywhere in its first 64 MiB and may soon take 64 MiB more.
// TestALimitOfAddressesOrDataGivesAResultOrALine fails if another Go version takes more.
#define START_ADDRESSES (1285L * 1000 * 1000 + (64L << 20))
#define START_DATA (66L * 1000 * 1000)
#define THREAD_STACK (1L << 20)

static int limited(int resource) {
	struct rlimit l;
	return getrlimit(resource, &l) == 0 && l.rlim_cur != RLIM_INFINITY;
}

// require ends the process if it cannot map the given number of bytes.
static void require(size_t bytes, int protection, const char *message) {
	void *p = mmap(NULL, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED) {
		ssize_t n = write(STDERR_FILENO, message, strlen(message));
		_exit(n < 0 ? 2 : 1);
	}
	munmap(p, bytes);
}

__attribute__((constructor)) static void begin(void) {
	int addresses = limited(RLIMIT_AS), data = limited(RLIMIT_DATA);
	if (!addresses && !data)
		return;
#if __SIZEOF_POINTER__ == 8
	if (addresses)
		require(START_ADDRESSES, PROT_NONE, "msrep: the limit of address space (ulimit -v) is too low: 1.4 GB are needed to start\n");
	if (data)
		require(START_DATA, PROT_READ | PROT_WRITE, "msrep: the limit of data (ulimit -d) is too low: 110 MB are needed to start\n");
#endif
#ifdef __GLIBC__
	mallopt(M_ARENA_MAX, 1);
	// pthread_setattr_default_np came with glibc 2.18. It is looked up, so that the program starts with an older one.
	int (*set_default)(const pthread_attr_t *) = (int (*)(const pthread_attr_t *))dlsym(RTLD_DEFAULT, "pthread_setattr_default_np");
	pthread_attr_t a;
	if (set_default && pthread_attr_init(&a) == 0) {
		if (pthread_attr_setstacksize(&a, THREAD_STACK) == 0)
			set_default(&a);
		pthread_attr_destroy(&a);
	}
#endif
}
