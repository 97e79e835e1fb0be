// Package sim simulates GPUs: devices with their own memory that run the kernels of
// package cuda on the interpreter of package ptx. The PTX is the same as on real GPUs.
// A machine without a GPU can thus run everything that several GPUs run, with copies
// between them. An invalid memory access, a race or another fault of a kernel is an
// error that wraps *ptx.Fault.
//
// Streams work synchronously, in the calling goroutine. Blocks run in order, so that results
// are reproducible, unless Config.Workers is above 1.
package sim
