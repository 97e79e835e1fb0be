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
//   - Every call needs the right context. A GPU can have several contexts. Work of one
//     context reaches the memory of another only if it was given access.
//   - Work that waits for an event of a lost GPU never ends.
//
// Machine.Links chooses the links between the GPUs. SetLie makes direct access of a pair
// lose data without an error, as an active IOMMU does.
//
// All objects are counted, and the n-th call of any entry point can be made to fail.
//
// MSREP_STANDIN_PCI sets the PCI addresses of the GPUs: a list separated by commas.
// MSREP_STANDIN_GPUS is their number, MSREP_STANDIN_MACHINE names their links as
// Machine.Links does, and MSREP_STANDIN_LIES has the lies: 0>1:3 is SetLie(0, 1, 3).
// MSREP_STANDIN_FAULT names a kernel that loses the GPU. CUDA_LAUNCH_BLOCKING makes
// launches wait for their kernels.
package nvidiatest
