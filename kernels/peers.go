package kernels

// PeerReader is a device whose kernels can read memory of other devices of its kind. A device without this interface reads
// no other device.
type PeerReader interface {
	// ReadsPeer reports whether kernels of this device can read the memory of from. The answer does not change while both
	// devices are open.
	ReadsPeer(from Device) bool
}

// ReadsPeer reports whether kernels of d can read the memory of from. A device reads its own memory.
func ReadsPeer(d, from Device) bool {
	if d == from {
		return true
	}
	r, ok := d.(PeerReader)
	return ok && r.ReadsPeer(from)
}
