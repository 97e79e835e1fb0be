package msrep

import (
	"github.com/msrep-go/msrep/internal/devvec"
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
