//go:build !linux

package mem

// Populate does nothing: this system cannot touch pages in one call.
func Populate([]byte) {}
