package kernels

import "github.com/msrep-go/msrep/sparse"

// Take computes Y[k] = X[Idx[k]] for all k.
type Take[V sparse.Value] struct {
	Idx  Array[int64]
	X, Y Array[V]
}

// Name returns the name of the operation.
func (*Take[V]) Name() string { return "take" }

// Pinner is a device that copies directly to and from pinned host memory.
type Pinner interface {
	// AllocPinned returns zeroed pinned host memory. The caller calls free before it closes the device;
	// more calls of free do nothing.
	AllocPinned(bytes int64) (p []byte, free func() error, err error)
}

// Addresser is a device whose memory other libraries of this process can use by address, for example an
// MPI library that was built for the device.
type Addresser interface {
	// AllocAddressed is Alloc for memory that these libraries can share with other processes. addr is its
	// address.
	AllocAddressed(bytes int64) (b Buffer, addr uintptr, err error)
	// Enter makes the device current in the calling thread, which these libraries require.
	Enter() error
}
