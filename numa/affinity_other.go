//go:build !linux

package numa

// allowedCPUs returns ok = false: the CPUs are known on Linux only.
func allowedCPUs() (cpus []int, ok bool) { return nil, false }
