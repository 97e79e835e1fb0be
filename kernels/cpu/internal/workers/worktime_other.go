//go:build !linux

package workers

import "time"

// threadCPU returns false: CPU times are unknown.
func threadCPU() (time.Duration, bool) { return 0, false }
