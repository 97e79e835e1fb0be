//go:build !linux

package par

// Yield does nothing: only on Linux does a thread have to leave its CPU to another one that shares it.
func Yield() {}
