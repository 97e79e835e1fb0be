// Package nvidia is the backend for NVIDIA GPUs: kernels.Device on the CUDA driver,
// with the PTX of kernels/internal/cuda and, if it is installed, cuSPARSE.
//
// It needs the build tag cuda, cgo, and the headers of CUDA 11.8, 12 or 13. Without the
// tag, Query and Open report why there are no GPUs. The binary loads the driver when it
// starts (internal/driver). It also starts on a machine without a driver, and reports
// that.
//
// # Threads and memory
//
// Each Device has one locked OS thread, on the CPUs of the GPU's NUMA node. The thread
// makes all driver calls, in the primary context of the GPU. Streams queue their work
// on the thread and do not wait for it. Sync waits and returns the first error. Several
// devices may share a GPU, with its context and its loaded kernels.
//
// Host memory that is not pinned is copied through pinned pieces in memory of the NUMA
// node, up to 16 of 2 MB: cores fill or empty some pieces while the GPU copies others.
// Memory that cannot be read, such as that of a truncated mapped file, is an error of
// the stream. Device.Register pins memory of the caller for direct copies. Device
// memory is allocated in stream order if the GPU supports that.
//
// # Errors
//
// All errors of a device are *kernels.DeviceError. After an error that the driver
// cannot recover from (an illegal address, a lost GPU), the device refuses more work.
// Close then still releases everything, and other GPUs still work.
package nvidia
