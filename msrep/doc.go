// Package msrep multiplies a sparse matrix by a vector on all devices of a node:
//
//	y = alpha*op(A)*x + beta*y      op(A) = A or its transpose
//
// SpMV computes one product. For many products with the same matrix, open a System (the devices), make a Plan (the
// matrix, split among the devices and stored on them) and call Plan.SpMV for each product.
//
// # Where to look
//
//   - SpMV: one product.
//   - Open, NewPlan, Plan.SpMV: many products with one matrix. Config selects the devices, PlanOptions states how the
//     matrix is split and stored. The zero values suit most programs.
//   - Plan.SpMM and MultiVector: several vectors at once.
//   - Plan.UpdateValues: new values for the same structure.
//   - Vector and Plan.Apply: vectors that stay in the memory of the devices.
//   - Plan.Shares, Packed, Nodes, Bytes, Timing and LastTiming, Config.Trace: how a plan stores its matrix, and how
//     long each phase took.
//
// Package sparse defines the matrices, sparse/matio reads and writes them, solver solves linear systems and ranks
// graphs, and cluster works with several processes.
//
// # The product
//
// With beta = 0, y is overwritten and not read: a NaN in y has no effect. With beta = 1, the product is added to y.
// With alpha = 0, neither A nor x is read. y must overlap neither x nor the values of the matrix. An infinite alpha may
// give NaN where the formula gives an infinity, because alpha multiplies the partial sums of a row before they are
// added.
//
// On machines with several NUMA nodes, a plan splits its matrix in two levels and copies each part to the memory of
// the node that multiplies it; see type NUMA.
//
// # Arguments, errors and lifetimes
//
// Functions and methods that return an error do so for a nil argument, for a value that its constructor did not make,
// and after Close (ErrClosed). They do not panic. Close on a nil pointer does nothing. Other methods panic on nil, as
// is usual in Go. After Close, the methods that describe a Plan or System still work, but Packed, Nodes, Bytes and
// XPlacement leave out what Close has released.
//
// Wrong arguments give a *sparse.InputError, which names the argument, and leave results unchanged. A device that fails
// gives a *kernels.DeviceError. When a context is done, the call returns the error of the context before its next
// phase; a running kernel is not interrupted. y is then unspecified.
//
// Slices belong to the caller. A plan uses x and y only during the call, and the arrays of its matrix as long as it is
// open; see Plan and PlanOptions.Storage.Release.
//
// # Steps of a product
//
// A matrix is a sparse.CSR, sparse.CSC or sparse.COO of float64 or float32. It is split by nonzeros (package
// partition), each device multiplies its part (package kernels), and the results of rows or columns that parts share
// are merged (package merge), as in the MSREP paper: Chen et al., "MSREP: A Fast yet Light Sparse Matrix Framework
// for Multi-GPU Systems".
package msrep

// Version is the version of this module, of the command, the C library and the Python package. It ends in -dev between
// releases.
const Version = "0.1.0"
