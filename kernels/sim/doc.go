// Package sim simulates GPUs: devices with their own memory that run the kernels of package
// cuda on the interpreter of package ptx. The PTX is the same as on real GPUs. So a machine
// without a GPU can run all that several GPUs run, including the copies between them, only
// slowly. An invalid memory access, a race or another fault of a kernel is an error that
// wraps *Fault.
//
// Streams work synchronously, in the calling goroutine. Thread blocks run in order, which
// makes results reproducible, unless Config.Workers is above 1.
package sim
