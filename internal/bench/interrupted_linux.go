package bench

import "golang.org/x/sys/unix"

// interrupted returns how often the system took a CPU from a thread of this process that had work to do.
func interrupted() int64 {
	var use unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &use) != nil {
		return 0
	}
	return int64(use.Nivcsw)
}
