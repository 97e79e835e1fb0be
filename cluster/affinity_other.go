//go:build !linux

package cluster

// usableCPUs says nothing where processes are not bound to CPUs.
func usableCPUs() string { return "" }
