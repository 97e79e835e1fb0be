//go:build unix && !linux

package mem

// adviseHuge does nothing where the system decides about huge pages alone.
func adviseHuge([]byte) {}
