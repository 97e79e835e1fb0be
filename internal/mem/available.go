package mem

import (
	"bufio"
	"math"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"sync/atomic"
)

// unknownMemory is the available memory on a machine that does not report it.
const unknownMemory = 16 << 30

// Available returns the number of bytes that can be allocated without swapping:
// MemAvailable of /proc/meminfo on Linux, or 16 GiB if the system does not report it.
// Limits of the process's control groups, less an eighth (at most 256 MiB) that is
// reserved, and its limits of address space and of data (ulimit -v, -d) reduce it. It is
// at most math.MaxInt, which is 2 GiB with 32-bit addresses.
func Available() int64 {
	room := min(memAvailable(), addressRoom(), math.MaxInt)
	for _, g := range ownGroups() {
		room = min(room, g.room())
	}
	return room
}

// threadBytes is the largest use of addresses by a thread of a C library and its working
// memory, with the small stack that the command sets.
const threadBytes = 2 << 20

// MostThreads returns the number of threads for which a limit of address space or of data
// (ulimit -v, -d) has room. limited is false if there is no limit. A thread that cannot
// be created ends the process.
func MostThreads() (n int, limited bool) {
	room := addressRoom()
	if room == math.MaxInt64 {
		return math.MaxInt, false
	}
	return int(1 + room/threadBytes), true
}

// minChecked is the number of bytes below which Fits does not check the available memory:
// the check takes some 20 us, touching that many pages some milliseconds.
const minChecked = 4 << 20

// unchecked is the number of bytes that Fits has allowed since its last check.
var unchecked atomic.Int64

// Fits reports whether need bytes can be allocated. If not, have is the number of bytes
// that can be. Requests below 4 MiB fit without a check until their sum since the last
// check reaches 4 MiB. Garbage of the Go heap and Spare memory count as used, but Fits
// releases both before it returns false.
func Fits(need int64) (have int64, ok bool) {
	if need < minChecked && unchecked.Add(max(need, 0)) < minChecked {
		return 0, true
	}
	unchecked.Store(0)
	if have = available(); have < need {
		dropSpares()
		debug.FreeOSMemory()
		have = available()
	}
	return have, need <= have
}

// pretended is the available memory that a test has set.
var pretended atomic.Pointer[int64]

// SetAvailable makes Fits use have bytes as the available memory until end is called. Tests of
// refusals use it.
func SetAvailable(have int64) (end func()) {
	before := pretended.Swap(&have)
	unchecked.Store(0)
	return func() { pretended.Store(before) }
}

func available() int64 {
	if p := pretended.Load(); p != nil {
		return *p
	}
	return Available()
}

func memAvailable() int64 {
	f, err := os.Open("/proc/meminfo")
	if err != nil {
		return unknownMemory
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		rest, ok := strings.CutPrefix(s.Text(), "MemAvailable:")
		if !ok {
			continue
		}
		kb, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(rest, "kB")), 10, 64)
		if err != nil || kb <= 0 || kb > 1<<50 {
			break
		}
		return kb << 10
	}
	return unknownMemory
}
