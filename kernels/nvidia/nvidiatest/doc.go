// Package nvidiatest is a driver for machines without a GPU: a shared library that
// stands in for libcuda and libcusparse, for tests. It is empty without the build
// tag cuda.
//
// Build compiles it with gcc. A process that is started with MSREP_LIBCUDA and
// MSREP_LIBCUSPARSE set to it, as Built.Env says, has GPUs whose memory is host
// memory. Kernels run on the interpreter of kernels/ptx, the same PTX that a real
// GPU would get, once Attached or Hide was called.
//
// The library is stricter than a real driver. Work on a stream waits until somebody
// synchronises, so that what does not wait for its results gets wrong ones; where one
// stream waits for an event of another, only what is before that event is done.
// Asynchronous copies need pinned memory, which is pinned once, and where it is read-only
// for reading. A product of cuSPARSE with arrays or y at no multiple of 16 bytes loses
// the GPU; one by CSR_ALG2 with one row or one column is wrong. What was freed to the pool
// only the pool gives again, until it is trimmed. Every call needs the right context. All
// that is made is counted, and the n-th call of any entry point can be made to fail.
//
// MSREP_STANDIN_PCI gives the GPUs other PCI addresses: a list with commas.
// MSREP_STANDIN_FAULT names a kernel that loses the GPU. CUDA_LAUNCH_BLOCKING makes
// launches wait for their kernels.
package nvidiatest
