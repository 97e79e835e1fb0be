// Package cpu makes devices of the processor. Each device has its own workers and memory, and works on host memory in
// place where the caller allows it.
//
// A product on a device is split again among its workers along the merge path of the part, so that rows of any length
// are divided evenly. The number of workers changes the result only by how sums are grouped.
//
// A device may be placed on a NUMA node (Config.CPUs). Its workers then hold system threads that run on these CPUs
// only, these threads do everything that touches memory, and large buffers are bound to the node. The threads end
// when the device is closed. Workers of other devices are goroutines on any thread. All workers poll for work for a
// moment before they sleep (docs/decisions/0014-waking-workers.md).
//
// Buffers of 16 KiB and more lie outside the Go heap, those of 4 MiB and more in huge pages where the system provides
// them. A buffer that is freed while a copy or a kernel uses it is released when that ends; later calls with it fail.
//
// The inner loops are those of kernels/cpu/simd. Streams execute at once, in the calling goroutine.
//
// # What is where
//
//   - device, buffer, across, stream: a device, its memory, and the choice of the kernel;
//     pool, waitpoint, parking: its workers, and how they wait; runner: how many make a product;
//     args: arrays as slices.
//   - gather, scatter, coo, fixed, many, vector: operations on parts as they are, and on
//     vectors. target is where workers add to y, scratch the vectors that they keep for it.
//   - pack, piece, align, arena: a part cut among the workers, in a form of package form;
//     transposed, many_packed: products with it.
//   - choose, search, sample: which of the forms that package inspect suggests is the fastest.
//   - symmetric: a symmetric matrix of which half is stored.
//   - sum: code of the host on the workers.
//
// Files NAME_... belong to NAME.
package cpu
