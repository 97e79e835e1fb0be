// Package cusparse is the sparse product of NVIDIA's cuSPARSE, where that library
// is installed: it is loaded when it is first asked for, never linked. The package
// is empty without the build tag cuda.
//
// Only the generic API is used, with prototypes of our own (shim.c), which are the
// same from CUDA 11.4 to 13. Matrices are CSR, COO or CSC in device memory; a CSC
// matrix is multiplied as the transpose of a CSR one. Preprocessing is used where
// the library has it (12.4 and later).
//
// A Handle and all that is made of it belong to the CUDA context that is current on
// the calling thread, and are used on that thread only.
package cusparse
