package bench

import "golang.org/x/sys/unix"

// interrupted is how often the system took a CPU from a thread of the process that was not done.
func interrupted() int64 {
	var use unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &use) != nil {
		return 0
	}
	return int64(use.Nivcsw)
}
