// Package cpu makes devices of the processor. Each device has its own workers and memory, and works on host memory in
// place where the caller allows it.
//
// A product on a device is split again among its workers along the merge path of the part (partition.Within), which
// divides the work evenly whatever the lengths of the rows. The number of workers affects only how sums are grouped,
// and so how they are rounded.
//
// A device may be placed on a NUMA node (Config.CPUs). Its workers then hold system threads that run on these CPUs
// only, these threads do everything that touches memory, and large buffers are bound to the node. The threads end
// when the device is closed. Workers of other devices are goroutines on any thread. All workers poll for work for a
// moment before they sleep (docs/decisions/0014-waking-workers.md).
//
// Buffers of 16 KiB and more lie outside the Go heap, those of 4 MiB and more in huge pages if the system provides
// them. If a buffer is freed while a copy or a kernel uses it, its memory is released when that ends; later calls with
// the buffer fail.
//
// The inner loops are those of the forms below kernels/cpu/internal/form. Streams execute at once, in the calling goroutine.
//
// # What is where
//
//   - device, stream: a device and the choice of the kernel for an operation; vector, sum, pointers: operations on
//     vectors and row pointers.
//   - package workers: its workers; package memory: its buffers, which kernels see as slices, the memory of forms, and
//     partial results.
//   - package rows: operations on parts that are not packed; package scatter: where each worker adds to y.
//   - pack, piece: a packed part, cut among the workers, with each piece in a form of package form; transposed,
//     many_packed: products with it; many_order, many_trial: x in another order for several vectors.
//   - package search: the search for the fastest of the forms that package forms suggests.
//
// A file NAME_... belongs to NAME.
package cpu
