// Package kernels defines what a device is: memory with an owner and a size, streams of copies and
// operations, events, and errors that name the device.
//
// Each kind of device is a package that opens a Device: kernels/cpu, kernels/sim and, with the build tag
// cuda, kernels/nvidia. A Stream runs its work in order: Write and Read copy between host and device, Copy
// copies between buffers of devices of the same kind, and Launch runs an Operation. An Operation is plain
// data: a formula, its arrays and its numbers. All devices use the same name for the same operation, and
// return ErrNotSupported for an operation that they lack. A stream may do its work after the call returns;
// Sync waits and returns the first error. To order two streams, one records an Event and the other waits for
// it.
//
// In a matrix, the majors are the dimension along which entries are stored (the rows in CSR, the columns in
// CSC), and the minors are the other dimension. Products by a part have two formulas:
//
//	MajorProduct     y[r] = alpha * sum over k of val[k]*x[idx[k]] + beta*y[r]      A in CSR, A' in CSC
//	MinorProduct     y = beta*y, then y[idx[k]] += alpha * val[k]*x[r]              A in CSC, A' in CSR
//	MajorProductCOO  the formula of MajorProduct, for entries sorted by the index of y
//	MinorProductCOO  the formula of MinorProduct, for entries sorted by the index of x
//
// TriangularSolve solves with a triangular matrix that Packer.Pack has stored for a TrianglePacking.
//
// A device that is a Packer can store a part in another form. MajorProductPacked and MinorProductPacked
// multiply by a packed part, and HostProduct does so with vectors in host memory. MajorProductMany,
// MajorProductManyPacked and MinorProductMany multiply several vectors. MajorProductFixed gives the same bits
// on every device. LocalPtr computes the pointers of a part from those of the matrix, and COOPtr from the
// majors of its entries.
//
// Pull, PullCarries and SumPartials read memory of other devices, where the device is a PeerReader that reads them.
//
// Package internal/reference computes the same products in a few plain lines. The tests of every device compare
// with it.
package kernels
