package kernels

import "github.com/msrep-go/msrep/sparse"

// Take is Y[k] = X[Idx[k]] for all k.
type Take[V sparse.Value] struct {
	Idx  Array[int64]
	X, Y Array[V]
}

// Name names the operation.
func (*Take[V]) Name() string { return "take" }

// Pinner is a device that copies from and to some host memory without a detour.
type Pinner interface {
	// AllocPinned gives such memory, zeroed. free gives it back, before the device is
	// closed; more calls do nothing.
	AllocPinned(bytes int64) (p []byte, free func() error, err error)
}

// Addresser is a device whose memory other libraries of this process know by its
// address, such as an MPI library that was built for it.
type Addresser interface {
	// AllocAddressed is Alloc of memory that such libraries can also show to other
	// processes, and its address.
	AllocAddressed(bytes int64) (b Buffer, addr uintptr, err error)
	// Enter makes the device that of the calling thread, as such libraries need it.
	Enter() error
}
