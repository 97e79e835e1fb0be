// Package mpi joins the processes of an MPI run, as a cluster.Comm, through the C
// library that mpicc links: Open MPI, MPICH and those derived from them. It is empty
// without the build tag mpi. A program begins with Start, once in each process:
//
//	comm, err := mpi.Start()
//	defer comm.Close()
//	sys, err := cluster.Open(comm, msrep.Config{})
//
// and is built and started by
//
//	CC=mpicc go build -tags mpi
//	mpirun -n 4 PROGRAM
//
// A rank that fails alone must end the others, which wait for it: by Abort, unless
// cluster.Agreed says that all know of the error.
//
// The package uses 18 functions of MPI 3, all of which return at once, but for the first and
// the last one: a rank that waits tests its requests and gives its core away in
// between, so that ranks may outnumber cores. A lock lets one thread at a time into the
// library (MPI_THREAD_SERIALIZED). Memory of Go that the library holds on to is pinned.
// Signals stay with Go: Start takes back the handlers that the library has set.
package mpi
