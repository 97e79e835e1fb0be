//go:build unix && !linux

package mem

// adviseHuge does nothing: this system offers no control over huge pages.
func adviseHuge([]byte) {}
