// Command libmsrep is the C library of msrep: products, solutions, factors, eigenvalues and PageRank of sparse matrices on
// all devices of a node, for any language that calls C.
//
//	packaging/clib FOLDER
//
// builds it as a shared and a static library, with files for pkg-config and CMake; .ci/clib.sh tests it. msrep.h documents
// the functions. msrep.hpp is a small layer for C++, fortran/msrep.f90 a module for Fortran. examples/ has programs in C,
// C++ and Fortran.
//
// # How it is built
//
// shim.c has the public functions. Each calls the Go function of its name, msrepgo_NAME, unless the process is the child
// of a fork: the Go runtime has no threads there, so the shim returns an error without entering Go.
//
// Every call returns a status. Stale handles, null pointers, wrong lengths, unmapped memory, and panics inside are errors
// (status.go, memory.go, structs.go). Calls that may take long and have a progress callback run in another goroutine, while
// the caller's thread calls the callback (run.go): a solve can thus be stopped while it computes factors. Such work uses
// copies of the caller's arrays, so that it may end after the call.
//
// A call from a signal handler that interrupted another call ends the process, because the Go runtime is not reentrant.
package main
