//go:build !linux

package cluster

// usableCPUs returns "": processes are not bound to CPUs here.
func usableCPUs() string { return "" }
