// Package mpi joins the processes of an MPI run, as a cluster.Comm, through the C
// library that mpicc links: Open MPI, MPICH and those derived from them. It is empty
// without the build tag mpi:
//
//	CC=mpicc go build -tags mpi ./cmd/msrep
//
// It uses 18 functions of MPI 3, all of which return at once, but for the first and
// the last one: a rank that waits tests its requests and gives its core away in
// between, so that ranks may outnumber cores. A lock lets one thread at a time into the
// library (MPI_THREAD_SERIALIZED). Memory of Go that the library holds on to is pinned.
package mpi
