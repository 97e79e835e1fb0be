// Package sim makes simulated GPUs: devices with memory of their own that run the
// kernels of package cuda, the very PTX that real GPUs get, on the interpreter of
// package ptx. A machine without a GPU so runs the whole path of several GPUs,
// with copies between them, and finds what a real GPU would suffer from: an error
// that wraps *ptx.Fault.
//
// Streams work at once, in the goroutine that calls. Blocks run in order, so that
// results are the same every time, unless Config.Workers says otherwise.
package sim
