package msrep

import (
	"errors"

	"github.com/msrep-go/msrep/internal/devvec"
	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/rescue"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/nvidia"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

// Types of other packages that the API of this package uses, so that a program needs to import this package only.
type (
	// DeviceInfo describes a device of a System.
	DeviceInfo = kernels.Info
	// PeerLink describes how data goes from one device of a System to another.
	PeerLink = nvidia.Link
	// Form names the form in which a device stores its part of a matrix.
	Form = kernels.Form
	// PackInfo describes the form of a part: its name, why it was chosen, its memory, and the forms that were tried.
	PackInfo = kernels.PackInfo
	// PackTrial describes one of the forms that a device considered for a part: its size and time, or why it was not
	// built.
	PackTrial = kernels.PackTrial
	// Segments states into how many CPMS segments values are cut, and how many of them a product reads.
	Segments = kernels.Segments
	// Part is a range of the nonzeros of a matrix.
	Part = partition.Part
	// SplitRule names a rule by which a matrix is split into parts.
	SplitRule = partition.Rule
)

// Vector is a vector that stays in the memory of the devices of a System. Each device has one piece of it, a range of
// consecutive elements. On devices that use host memory, such as CPU devices, the vector is one array, which Host
// returns. Otherwise each piece is in the memory of its device, and only Write and Read copy elements from and to the
// host.
//
// The vectors of an operation must have the same pieces: make all of them with NewVector for the same System and
// length, or all with the same plan (Plan.RowVector, Plan.ColumnVector). Copy accepts any pieces.
//
// Sums (Dot, Norm, Project, ...) are computed in float64 and added over the pieces in order. Their last bits depend
// on the pieces, also if a plan is Deterministic. For the same bits on any devices, keep the vectors of your method
// on the host.
//
// Methods may be called from any goroutine. Operations on the vectors of one System run in the order of the calls. On
// devices that work asynchronously, only operations that return a number or copy elements to or from the host wait;
// they also return the errors of earlier operations.
//
// An operation that fails leaves the vectors that it writes unspecified.
//
// The methods Write, Read and Host give access to the elements; Copy, Fill, Scale, Axpy, Axpby, Add, Multiply, Dot, Norm,
// Project, Combine and Misfit compute; Len and Bytes state the size; Wait waits for earlier operations, and Close frees
// the memory. "go doc github.com/msrep-go/msrep/internal/devvec Vector" prints their formulas.
type Vector[V sparse.Value] = devvec.Vector[V]

// NewVector returns a Vector of n zeros in equal pieces. Products of a plan are fastest with vectors made by the plan
// (RowVector, ColumnVector).
func NewVector[V sparse.Value](sys *System, n int) (v *Vector[V], err error) {
	defer rescue.To(&err)
	if sys == nil {
		return nil, sparse.Inputf("system", "is nil")
	}
	if n < 0 || n > sparse.MaxDim {
		return nil, sparse.Inputf("vector", "%d elements: use 0 to %d", n, sparse.MaxDim)
	}
	d := sys.devices()
	return devvec.New[V](d, devvec.EvenCuts(n, max(len(d.List), 1)))
}

// VectorAt returns a Vector of n elements that the caller has in the memory of a GPU, the only device of sys: element i is
// address + i*size bytes. The address is one of the primary context, as those of the CUDA runtime, CuPy and torch are.
// VectorAt waits for all work that was queued on the GPU. The caller keeps the memory alive and may use it again after Wait;
// Close does not free it.
func VectorAt[V sparse.Value](sys *System, address uint64, n int) (v *Vector[V], err error) {
	defer rescue.To(&err)
	if sys == nil {
		return nil, sparse.Inputf("system", "is nil")
	}
	size := uint64(mem.Size[V]())
	list := sys.devices().List
	switch {
	case n < 0 || n > sparse.MaxDim:
		return nil, sparse.Inputf("vector", "%d elements: use 0 to %d", n, sparse.MaxDim)
	case address%size != 0:
		return nil, sparse.Inputf("vector", "begins at an address that is no multiple of %d", size)
	case len(list) != 1:
		return nil, sparse.Inputf("vector", "in the memory of a GPU: the system has %d devices, it must have this GPU only", len(list))
	}
	device, ok := list[0].(kernels.MemoryAdopter)
	if !ok {
		return nil, sparse.Inputf("vector", "in the memory of a GPU: the system has device %s", list[0].Info().ID)
	}
	buf, err := device.AdoptMemory(address, int64(n)*int64(size))
	if errors.Is(err, kernels.ErrArgument) || errors.Is(err, kernels.ErrNotSupported) {
		return nil, &sparse.InputError{Subject: "vector", Err: err}
	}
	if err != nil {
		return nil, err
	}
	return devvec.Adopt(sys, 0, kernels.Array[V]{Buf: buf, Len: int64(n)})
}
