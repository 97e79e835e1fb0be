// Package kernels is what a device must be able to do, whatever it is: memory
// with an owner and a size, streams of copies and kernels, events, and errors
// that name the device.
//
// A Device is opened by its backend: kernels/cpu, kernels/sim or, with the build tag
// cuda, kernels/nvidia. Work is put on a Stream in order: Write and Read between host
// and device, Copy between buffers, also of two devices of one kind, and Launch of an
// Op. An Op is plain data: which kernel, on which arrays, with which numbers; each
// backend has the same kernel at the same name and says ErrNotSupported for those it
// lacks. Streams may work later than the call; Sync waits and reports the first error.
// Streams are kept in order among each other by an Event that one records and others
// wait for.
//
// Two kernels on compressed parts and two on coordinate parts make all products:
//
//	Gather     y[r] = alpha * sum over k of val[k]*x[idx[k]] + beta*y[r]   pCSR, and pCSC transposed
//	Scatter    y[idx[k]] += alpha * val[k]*x[r]                            pCSC, and pCSR transposed
//	MajorProductCOO  the same as Gather, for entries sorted by the index of y
//	MinorProductCOO the same as Scatter, for entries sorted by the index of x
//
// A device that is a Packer may keep a part in a form of its own, which MajorProductPacked
// and MinorProductPacked multiply by: the same formulas as Gather and Scatter, as HostProduct for vectors
// in host memory, one or several. MajorProductMany, MajorProductManyPacked and MinorProductMany are for several vectors,
// MajorProductFixed is Gather with the same bits on every device. LocalPtr makes a part's pointers of
// those of the matrix, COOPtr of the majors of its entries.
//
// kernels/reference has the same products in a few plain lines: what every
// backend is tested against.
package kernels
