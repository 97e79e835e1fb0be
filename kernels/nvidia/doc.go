// Package nvidia is the backend for NVIDIA GPUs: kernels.Device over the CUDA
// driver, with the PTX of kernels/cuda and, where it is installed, cuSPARSE.
//
// It needs the build tag cuda, cgo, and headers of CUDA 11.8, 12 or 13; without the
// tag the package is there, and Query and Open say why there are no GPUs. The
// binary loads the driver when it starts (internal/driver): on a machine without
// one it starts all the same and says so.
//
// # Threads and memory
//
// Each Device has one locked OS thread, which makes all calls of the driver in the
// primary context of its GPU, on the CPUs of the GPU's NUMA node. Streams hand
// their work to it and do not wait; Sync does, and reports the first error. Several
// devices may share a GPU: they share its context and its loaded kernels.
//
// Host memory that is not pinned is copied through pinned pieces of the NUMA node, up to
// 16 of 2 MB: cores fill or empty some while others travel. Memory that cannot be read, as
// of a mapped file that was cut, is an error of the stream. Device.Register pins memory of
// the caller for direct copies. Device memory is allocated in the order of streams where
// the GPU can do that.
//
// # Errors
//
// All errors of a device are *kernels.DeviceError. After one that the driver cannot
// recover from (an illegal address, a lost GPU), the device refuses further work
// and Close still releases everything; other GPUs go on.
package nvidia
