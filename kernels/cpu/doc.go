// Package cpu makes devices of the processor: each has workers and memory of its
// own, and works on host memory in place where it is asked to.
//
// A product on a device is split again among its workers, by the merge path of
// the part, so that rows of any length are shared out evenly. The result depends
// on the number of workers only in how sums are grouped.
//
// A device may be placed on a NUMA node (Config.CPUs): then its workers hold
// threads of the system that run on these CPUs only, everything that touches
// memory is done by them, and large buffers are bound to the node. The threads end
// when the device is closed. Workers of other devices are goroutines on any thread. All
// look for work for a moment before they sleep (docs/decisions/0014-waking-workers.md).
//
// Buffers of 16 KiB and more lie outside the Go heap, from 4 MiB on in huge pages
// where the system gives them. A buffer that is freed while a copy or a kernel uses
// it goes when that ends; later calls with it are errors.
//
// The inner loops are those of kernels/cpu/simd. Streams work at once, in the
// goroutine that calls.
//
// # What is where
//
//   - device, buffer, across, stream: a device, its memory, and the choice of the kernel;
//     pool, gate, parking: its workers, and how they wait; runner: how many make a product;
//     args: arrays as slices.
//   - gather, scatter, coo, fixed, many, vector: operations on parts as they are, and on
//     vectors. target is where workers add to y, scratch the vectors that they keep for it.
//   - pack, piece, align, arena: a part cut among the workers, in a form of package form;
//     transposed, many_packed: products by it.
//   - choose, search, sample: which form that is, of those that package inspect suggests.
//   - symmetric: a symmetric matrix of which half is stored.
//   - sum: code of the host on the workers.
//
// Files NAME_... belong to NAME.
package cpu
