package numa

import "golang.org/x/sys/unix"

// allowedCPUs returns the CPUs that this process may run on. ok is false if the kernel
// does not say.
func allowedCPUs() (cpus []int, ok bool) {
	set := unix.NewCPUSet(MaxCPU + 1)
	if err := unix.SchedGetaffinityDynamic(0, set); err != nil {
		return nil, false
	}
	for c := range MaxCPU + 1 {
		if set.IsSet(c) {
			cpus = append(cpus, c)
		}
	}
	return cpus, len(cpus) > 0
}
