//go:build !linux

package mem

// Populate does nothing where pages cannot be touched at once.
func Populate([]byte) {}
