//go:build !linux

package mem

// adviseHuge does nothing: this system offers no control over huge pages.
func adviseHuge([]byte) {}

// AdviseSmall does nothing: this system offers no control over huge pages.
func AdviseSmall([]byte) {}
