// Package mpi connects the processes of an MPI run as a cluster.Comm, through the C library that mpicc links: Open
// MPI, MPICH and their derivatives. Without the build tag mpi the package is empty. Each process calls Start once:
//
//	comm, err := mpi.Start()
//	defer comm.Close()
//	sys, err := cluster.Open(comm, msrep.Config{})
//
// It is built and started by
//
//	CC=mpicc go build -tags mpi
//	mpirun -n 4 PROGRAM
//
// A rank that fails alone must end the others, which wait for it, with Abort, unless cluster.Agreed reports that all
// ranks return the error.
//
// The package uses 18 functions of MPI 3. All except MPI_Init_thread and MPI_Finalize return at once: a rank that waits
// tests its requests and yields its core in between, so a run may have more ranks than cores. A lock admits one thread
// at a time to the library (MPI_THREAD_SERIALIZED). Go memory that the library uses after a call returns is pinned. The
// Go runtime keeps its signal handlers: Start restores those that the library has replaced.
package mpi
