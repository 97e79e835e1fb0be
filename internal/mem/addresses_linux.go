package mem

import (
	"fmt"
	"math"
	"os"

	"golang.org/x/sys/unix"
)

// addressRoom is the bytes of address space that the process may still take (ulimit -v).
func addressRoom() int64 {
	var r unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_AS, &r); err != nil || r.Cur >= noLimit {
		return math.MaxInt64
	}
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return math.MaxInt64
	}
	var taken int64
	if _, err := fmt.Sscan(string(text), &taken); err != nil {
		return math.MaxInt64
	}
	return max(int64(r.Cur)-taken*int64(os.Getpagesize()), 0)
}
