// Command libmsrep is the C library of msrep: CSR matrices of float64 or float32, multiplied and
// solved over all devices of a node, from any language that calls C.
//
//	go build -buildmode=c-shared -o libmsrep.so ./cmd/libmsrep
//
// builds it, .ci/clib.sh with a version script and a pkg-config file. msrep.h has the
// functions and what they mean; examples/ has a program each in C, Python (ctypes and
// SciPy) and Fortran.
//
// Every call gives a status. None ends the process: stale handles, null pointers and
// wrong lengths are errors, and so is a panic inside. The library starts the Go
// runtime; a process that forks without exec must not use it in the child.
package main
