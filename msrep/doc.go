// Package msrep multiplies a sparse matrix by a vector over all devices of a
// node:
//
//	y = alpha*op(A)*x + beta*y      op(A) = A or its transpose
//
// SpMV does it once. A program that multiplies by the same matrix again and again
// opens a System (its devices), makes a Plan (the matrix, split and placed once)
// and calls Plan.SpMV as often as it likes.
//
// # Where to look
//
//   - SpMV: one product.
//   - Open, NewPlan, Plan.SpMV: many products with a matrix. Config says which devices,
//     PlanOptions how the matrix is split and kept; the zero values do for most.
//   - Plan.SpMM and MultiVector: several vectors at once.
//   - Plan.UpdateValues: other values in the same places.
//   - Vector and Plan.Apply: vectors that stay in the memory of the devices; Selection,
//     AdoptVector and System.Device are for those who exchange elements of them with other
//     processes, as package cluster does.
//   - Plan.Shares, Packed, Nodes, Bytes and Timing, Config.Trace: what was done, and how long
//     it took.
//
// Package sparse has the matrices, sparse/matio reads them, solver solves systems and ranks
// graphs, cluster works over several processes.
//
// # The product
//
// What alpha and beta mean is never in doubt: beta = 0 overwrites y without reading
// it, so that NaN in y vanishes; beta = 1 adds to y; alpha = 0 reads neither A nor
// x. y must overlap neither x nor the values of the matrix. An infinite alpha may
// give NaN where the formula gives an infinity: it multiplies what each worker has
// of a row.
//
// On machines with several NUMA nodes a plan copies each part to the memory of the
// node that works on it, and splits in two levels; see type NUMA.
//
// # Arguments, errors and lifetimes
//
// Everything that returns an error returns one for a nil argument, for a value that its
// constructor did not make, and after Close (ErrClosed): no panic leaves it. Close of nil
// does nothing. Other methods panic on nil as those of any Go type do; on a closed Plan or
// System they go on telling what it was, but for what it held: Packed, Nodes, Bytes and
// XPlacement.
//
// Wrong arguments are *sparse.InputError: they name the argument and leave results alone.
// Devices that fail give *kernels.DeviceError. A context that ends gives its error, before
// the next phase of the call: a kernel that runs is not interrupted. y is unspecified then.
//
// Slices belong to the caller. x and y are used during the call only; the arrays of a
// matrix while its Plan is open, see Plan and PlanOptions.Storage.Release.
//
// # What a product goes through
//
// A matrix is any of sparse.CSR, sparse.CSC and sparse.COO, of float64 or
// float32. It is split by nonzeros (package partition), each part is multiplied
// by its device (package kernels), and rows or columns that parts share are
// merged (package merge), as the MSREP paper describes: Chen et al., "MSREP: A Fast
// yet Light Sparse Matrix Framework for Multi-GPU Systems".
package msrep
