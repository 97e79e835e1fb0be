// Package cusparse multiplies with NVIDIA's cuSPARSE if that library is installed. The
// library is loaded at its first use, never linked. The package is empty without the
// build tag cuda.
//
// It uses only the generic API, through prototypes in shim.c that fit CUDA 11.4 to 13.
// Matrices are CSR, COO or CSC in device memory; a CSC matrix is multiplied as the
// transpose of a CSR matrix. Preprocessing is used if the library has it (12.4 and
// later). SpMVOp is used if the library has it; it is experimental, and its prototypes are those
// of 12.7.3 to 12.9.
//
// A Handle and all objects created from it belong to the CUDA context that is current
// on the calling thread, and must be used on that thread only.
package cusparse
