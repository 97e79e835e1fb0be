package mem

import (
	"fmt"
	"math"
	"os"

	"golang.org/x/sys/unix"
)

// What is kept back of a limit of addresses and of one of data for what nobody asks Fits for. Go's
// heap takes addresses 64 MiB at a time: one such arena for small objects, and one that a large
// object is rounded up by. Go never gives addresses back.
const (
	addressesKept = 128 << 20
	dataKept      = 32 << 20
)

// addressRoom is the bytes that may still be asked for where the process has a limit of address
// space (ulimit -v) or of data (ulimit -d), and math.MaxInt64 where it has none.
func addressRoom() int64 {
	addresses, data := limit(unix.RLIMIT_AS), limit(unix.RLIMIT_DATA)
	if addresses >= noLimit && data >= noLimit {
		return math.MaxInt64
	}
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return math.MaxInt64
	}
	var pages [6]int64 // all, resident, shared, text, 0, data and stack
	if _, err := fmt.Sscan(string(text), &pages[0], &pages[1], &pages[2], &pages[3], &pages[4], &pages[5]); err != nil {
		return math.MaxInt64
	}
	page := int64(os.Getpagesize())
	return max(min(addresses-page*pages[0]-addressesKept, data-page*pages[5]-dataKept), 0)
}

// limit is a limit of the process, noLimit or more where there is none.
func limit(resource int) int64 {
	var r unix.Rlimit
	if err := unix.Getrlimit(resource, &r); err != nil || r.Cur >= noLimit {
		return math.MaxInt64
	}
	return int64(r.Cur)
}
