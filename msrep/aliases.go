package msrep

import (
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/partition"
)

// Types of other packages that the API of this package uses, so that a program needs to import this package only.
type (
	// DeviceInfo describes a device of a System.
	DeviceInfo = kernels.Info
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
