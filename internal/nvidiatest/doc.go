// Package nvidiatest provides a driver for tests on machines without a GPU: a shared
// library that stands in for libcuda and libcusparse. It is empty without the build tag
// cuda.
//
// Build compiles the library with gcc. A process that starts with the environment of
// Built.Env (MSREP_LIBCUDA and MSREP_LIBCUSPARSE) has GPUs whose memory is host memory.
// After a call of Attached or Hide, kernels run on the interpreter of kernels/internal/ptx, from
// the same PTX as on a GPU.
//
// The library is stricter than a real driver:
//
//   - Work on a stream is delayed until something synchronises, so that code which
//     does not wait for its results gets wrong ones. If a stream waits for an event
//     of another, only the work before that event is done.
//   - Asynchronous copies need pinned memory. Memory can be pinned only once;
//     read-only memory must be pinned for reading.
//   - A cuSPARSE product with arrays or y at no multiple of 16 bytes loses the GPU.
//     A product by CSR_ALG2 with one row or one column is wrong.
//   - Memory freed to the pool can be allocated only from the pool, until the pool
//     is trimmed.
//   - Every call needs the right context.
//
// All objects are counted, and the n-th call of any entry point can be made to fail.
//
// MSREP_STANDIN_PCI sets the PCI addresses of the GPUs: a list separated by commas.
// MSREP_STANDIN_FAULT names a kernel that loses the GPU. CUDA_LAUNCH_BLOCKING makes
// launches wait for their kernels.
package nvidiatest
