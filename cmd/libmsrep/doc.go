// Command libmsrep is the C library of msrep. It multiplies and solves with CSR matrices of float64 or float32 on all
// devices of a node, for any language that calls C.
//
//	go build -buildmode=c-shared -o libmsrep.so ./cmd/libmsrep
//
// builds the library. .ci/clib.sh builds it with a version script and a pkg-config file. msrep.h documents the
// functions; examples/ has programs in C, Python (ctypes and SciPy) and Fortran.
//
// Every call returns a status. A stale handle, a null pointer, a wrong length, unmapped memory of x or y, and a panic
// inside are errors. A call from a signal handler that interrupted another call ends the process, because the Go
// runtime is not reentrant. A process that forks without exec must not use the library in the child.
package main
