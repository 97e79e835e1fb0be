#ifndef MSREP_MPI_SHIM_H
#define MSREP_MPI_SHIM_H

#include <mpi.h>
#include <stdint.h>

// Every function returns an MPI error code. Requests are arrays from msrep_requests.

int msrep_init(int *enough, int *rank, int *size);
int msrep_finalize(void);
void msrep_abort(int code);
void msrep_error(int code, char *text); // text has room for MSREP_ERROR bytes

enum { MSREP_ERROR = MPI_MAX_ERROR_STRING };

MPI_Request *msrep_requests(int64_t n);
int msrep_test(MPI_Request *r, int n, int *done);
int msrep_start(MPI_Request *r, int n);
int msrep_free(MPI_Request *r, int n);

int msrep_isend(MPI_Request *r, int at, const void *data, int n, int rank, int tag);
int msrep_irecv(MPI_Request *r, int at, void *data, int n, int rank, int tag);
int msrep_send_init(MPI_Request *r, int at, const void *data, int n, int rank, int tag);
int msrep_recv_init(MPI_Request *r, int at, void *data, int n, int rank, int tag);

int msrep_alltoall(MPI_Request *r, const int64_t *send, int64_t *received);
int msrep_allgather(MPI_Request *r, const int64_t *own, int64_t *all);
int msrep_allgatherv(MPI_Request *r, const void *own, int n, void *all, const int *counts, const int *starts);
int msrep_allreduce(MPI_Request *r, const double *own, double *all, int n, int largest);

int msrep_takes_cuda(void); // returns whether the library accepts memory of NVIDIA GPUs

void msrep_pause(int rest);

#endif
