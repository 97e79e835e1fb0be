// Command libmsrep is the C library of msrep: CSR matrices of float64 or float32, multiplied and
// solved over all devices of a node, from any language that calls C.
//
//	go build -buildmode=c-shared -o libmsrep.so ./cmd/libmsrep
//
// builds it, .ci/clib.sh with a version script and a pkg-config file. msrep.h has the
// functions and what they mean; examples/ has a program each in C, Python (ctypes and
// SciPy) and Fortran.
//
// Every call gives a status: stale handles, null pointers, wrong lengths and memory that x or y
// does not have are errors, and so is a panic inside. One call ends the process: that of a signal
// handler which has interrupted another call, as the Go runtime is in the middle of its work then. A
// process that forks without exec must not use the library in the child.
package main
