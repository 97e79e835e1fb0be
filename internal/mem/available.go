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

// unknownMemory is the limit where the machine does not say what it has.
const unknownMemory = 16 << 30

// Available is how many bytes can be allocated without swapping, as Linux says in
// /proc/meminfo, or 16 GiB where nothing says it. It is less where a control group of the
// process, of whose limit an eighth is kept back (256 MiB at most), or its limit of address
// space or of data (ulimit -v, -d) leaves less, and at most math.MaxInt, which is 2 GiB where addresses
// have 32 bits.
func Available() int64 {
	room := min(free(), addressRoom(), math.MaxInt)
	for _, g := range ownGroups() {
		room = min(room, g.room())
	}
	return room
}

// threadBytes is what a thread of a C library takes of addresses with what it works on, at most,
// where the command has made its stack small.
const threadBytes = 2 << 20

// MostThreads is how many threads a limit of address space or of data (ulimit -v, -d) leaves room
// for; limited is false where there is none. A thread that cannot be made ends the process.
func MostThreads() (n int, limited bool) {
	room := addressRoom()
	if room == math.MaxInt64 {
		return math.MaxInt, false
	}
	return int(1 + room/threadBytes), true
}

// leastAsked is the bytes for which nobody looks whether there is memory: to look takes some
// 20 us, to touch so many pages some milliseconds.
const leastAsked = 4 << 20

// unasked is the bytes that were said to fit since somebody looked.
var unasked atomic.Int64

// Fits reports whether need bytes can be allocated; have is how many can if they do not fit.
// Less than 4 MiB fit without a look, all together since the last one. Garbage of the Go
// heap, and what is kept as Spare, counts as taken, and is given back before the answer is no.
func Fits(need int64) (have int64, ok bool) {
	if need < leastAsked && unasked.Add(max(need, 0)) < leastAsked {
		return 0, true
	}
	unasked.Store(0)
	if have = available(); have < need {
		dropSpares()
		debug.FreeOSMemory()
		have = available()
	}
	return have, need <= have
}

// pretended is what tests say that is available.
var pretended atomic.Pointer[int64]

// Pretend lets Fits find so many bytes in place of those of the machine until the function
// that it gives is called. It is for tests of what is refused.
func Pretend(have int64) (end func()) {
	before := pretended.Swap(&have)
	unasked.Store(0)
	return func() { pretended.Store(before) }
}

func available() int64 {
	if p := pretended.Load(); p != nil {
		return *p
	}
	return Available()
}

func free() int64 {
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
