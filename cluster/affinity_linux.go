package cluster

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// usableCPUs returns the list of CPUs that this process may run on.
func usableCPUs() string {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return ""
	}
	return fmt.Sprintf("%x", set)
}
