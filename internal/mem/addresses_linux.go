package mem

import (
	"fmt"
	"math"
	"os"

	"golang.org/x/sys/unix"
)

// The parts of a limit on addresses and of a limit on data that are reserved for
// allocations without Fits. Go's heap takes addresses in arenas of 64 MiB and never
// returns them. The reserve covers one arena for small objects and one to round up a
// large object.
const (
	addressesReserved = 128 << 20
	dataReserved      = 32 << 20
)

// addressRoom returns the number of bytes that the process can still allocate under its
// limits of address space (ulimit -v) and of data (ulimit -d), or math.MaxInt64 if it has
// none.
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
	return max(min(addresses-page*pages[0]-addressesReserved, data-page*pages[5]-dataReserved), 0)
}

// limit returns a limit of the process; a value of at least noLimit means that there is
// none.
func limit(resource int) int64 {
	var r unix.Rlimit
	if err := unix.Getrlimit(resource, &r); err != nil || r.Cur >= noLimit {
		return math.MaxInt64
	}
	return int64(r.Cur)
}
