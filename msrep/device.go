package msrep

import "github.com/msrep-go/msrep/kernels"

// Device gives device i, in the order of Devices, for memory and operations of package
// kernels that are no products of a plan. It belongs to the system: the caller frees
// what it allocates there, and does not close it.
func (s *System) Device(i int) kernels.Device { return s.devices[i] }
