//go:build mpi

#define _GNU_SOURCE // RTLD_DEFAULT
#include "shim.h"

#include <dlfcn.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

// init_beside_go starts MPI and restores Go's signal handlers. Open MPI replaces the handlers for crashes, some of
// which Go turns into panics. MPICH replaces the handler for SIGUSR1 by one that calls Go's on the stack of a
// goroutine, which makes Go end the process.
static int init_beside_go(int *level) {
	struct sigaction go[NSIG];
	int kept[NSIG];
	for (int s = 1; s < NSIG; s++)
		kept[s] = !sigaction(s, NULL, &go[s]);
	int e = MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, level);
	for (int s = 1; s < NSIG; s++)
		if (kept[s])
			sigaction(s, &go[s], NULL); // SIGKILL and SIGSTOP can't be set, nor taken
	return e;
}

// msrep_init starts MPI; enough is set if several threads may call it one after the other.
int msrep_init(int *enough, int *rank, int *size) {
	int level, e = init_beside_go(&level);
	if (e == MPI_SUCCESS)
		e = MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	if (e == MPI_SUCCESS)
		e = MPI_Comm_rank(MPI_COMM_WORLD, rank);
	if (e == MPI_SUCCESS)
		e = MPI_Comm_size(MPI_COMM_WORLD, size);
	*enough = e == MPI_SUCCESS && level >= MPI_THREAD_SERIALIZED;
	return e;
}

int msrep_finalize(void) { return MPI_Finalize(); }

void msrep_abort(int code) { MPI_Abort(MPI_COMM_WORLD, code); }

void msrep_error(int code, char *text) {
	int n;
	text[0] = 0;
	MPI_Error_string(code, text, &n);
}

MPI_Request *msrep_requests(int64_t n) {
	MPI_Request *r = malloc((n > 0 ? n : 1) * sizeof *r);
	for (int64_t i = 0; r && i < n; i++)
		r[i] = MPI_REQUEST_NULL;
	return r;
}

// MPICH declares the statuses as an array, for which MPI_STATUSES_IGNORE looks too small.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpragmas"
#pragma GCC diagnostic ignored "-Wstringop-overflow"
int msrep_test(MPI_Request *r, int n, int *done) { return MPI_Testall(n, r, done, MPI_STATUSES_IGNORE); }
#pragma GCC diagnostic pop

int msrep_start(MPI_Request *r, int n) { return MPI_Startall(n, r); }

// msrep_free frees the remaining requests, which are inactive, and the array.
int msrep_free(MPI_Request *r, int n) {
	int e = MPI_SUCCESS;
	for (int i = 0; i < n && e == MPI_SUCCESS; i++)
		if (r[i] != MPI_REQUEST_NULL)
			e = MPI_Request_free(&r[i]);
	free(r);
	return e;
}

int msrep_isend(MPI_Request *r, int at, const void *data, int n, int rank, int tag) {
	return MPI_Isend(data, n, MPI_BYTE, rank, tag, MPI_COMM_WORLD, r + at);
}

int msrep_irecv(MPI_Request *r, int at, void *data, int n, int rank, int tag) {
	return MPI_Irecv(data, n, MPI_BYTE, rank, tag, MPI_COMM_WORLD, r + at);
}

int msrep_send_init(MPI_Request *r, int at, const void *data, int n, int rank, int tag) {
	return MPI_Send_init(data, n, MPI_BYTE, rank, tag, MPI_COMM_WORLD, r + at);
}

int msrep_recv_init(MPI_Request *r, int at, void *data, int n, int rank, int tag) {
	return MPI_Recv_init(data, n, MPI_BYTE, rank, tag, MPI_COMM_WORLD, r + at);
}

int msrep_alltoall(MPI_Request *r, const int64_t *send, int64_t *received) {
	return MPI_Ialltoall(send, 1, MPI_INT64_T, received, 1, MPI_INT64_T, MPI_COMM_WORLD, r);
}

int msrep_allgather(MPI_Request *r, const int64_t *own, int64_t *all) {
	return MPI_Iallgather(own, 1, MPI_INT64_T, all, 1, MPI_INT64_T, MPI_COMM_WORLD, r);
}

int msrep_allgatherv(MPI_Request *r, const void *own, int n, void *all, const int *counts, const int *starts) {
	return MPI_Iallgatherv(own, n, MPI_BYTE, all, counts, starts, MPI_BYTE, MPI_COMM_WORLD, r);
}

int msrep_allreduce(MPI_Request *r, const double *own, double *all, int n, int largest) {
	return MPI_Iallreduce(own, all, n, MPI_DOUBLE, largest ? MPI_MAX : MPI_SUM, MPI_COMM_WORLD, r);
}

// msrep_takes_cuda calls functions that only some libraries have; it looks them up at run time.
int msrep_takes_cuda(void) {
	int (*query)(void), (*gpu)(int, int *), yes = 0;
	*(void **)&query = dlsym(RTLD_DEFAULT, "MPIX_Query_cuda_support"); // Open MPI, MPICH
	if (query)
		return query();
	*(void **)&gpu = dlsym(RTLD_DEFAULT, "MPIX_GPU_query_support"); // MPICH; CUDA is 0
	return gpu && gpu(0, &yes) == MPI_SUCCESS && yes;
}

// msrep_pause yields the core: at once, or for a moment if rest is set.
void msrep_pause(int rest) {
	if (rest) {
		struct timespec t = {0, 20000};
		nanosleep(&t, NULL);
	} else {
		sched_yield();
	}
}
