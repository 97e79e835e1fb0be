package msrep

import "github.com/msrep-go/msrep/kernels"

// Device gives device i, in the order of Devices, for memory and operations of package
// kernels that are no products of a plan. It belongs to the system: the caller frees
// what it allocates there, and does not close it. It is nil where there is no such
// device.
func (s *System) Device(i int) kernels.Device {
	if i < 0 || i >= len(s.devices) {
		return nil
	}
	return s.devices[i]
}
