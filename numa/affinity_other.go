//go:build !linux

package numa

// allowedCPUs is known on Linux only.
func allowedCPUs() (cpus []int, ok bool) { return nil, false }
