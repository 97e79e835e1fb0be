package msrep

import "github.com/msrep-go/msrep/kernels"

// Device returns device i, in the order of Devices, for allocations and operations of package kernels outside a plan.
// The System owns the device: the caller frees its own allocations and must not close the device. Device returns nil
// if there is no device i, and after Close.
func (s *System) Device(i int) kernels.Device {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i < 0 || i >= len(s.devices) || s.closers == nil {
		return nil
	}
	return s.devices[i]
}
