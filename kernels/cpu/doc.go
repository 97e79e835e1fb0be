// Package cpu makes devices of the processor: each has workers and memory of its
// own, and works on host memory in place where it is asked to.
//
// A product on a device is split again among its workers, by the merge path of
// the part, so that rows of any length are shared out evenly. The result depends
// on the number of workers only in how sums are grouped.
//
// The kernels are plain Go. Streams work at once, in the goroutine that calls.
package cpu
