//go:build !linux

package mem

// AdviseSmall does nothing where the system decides about huge pages alone.
func AdviseSmall([]byte) {}
