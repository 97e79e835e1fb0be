package msrep

import "github.com/msrep-go/msrep/kernels"

// Device gives device i, in the order of Devices, for memory and operations of package
// kernels that are no products of a plan. It belongs to the system: the caller frees
// what it allocates there, and does not close it. It is nil where there is no such
// device, and after Close.
func (s *System) Device(i int) kernels.Device {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i < 0 || i >= len(s.devices) || s.plans == nil {
		return nil
	}
	return s.devices[i]
}
