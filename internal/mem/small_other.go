//go:build !linux

package mem

// AdviseSmall does nothing: this system offers no control over huge pages.
func AdviseSmall([]byte) {}
