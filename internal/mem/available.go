package mem

import (
	"bufio"
	"math"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
)

// unknownMemory is the limit where the machine does not say what it has.
const unknownMemory = 16 << 30

// Available is how many bytes can be allocated without swapping, as Linux says in
// /proc/meminfo, or 16 GiB where nothing says it. It is less where a control group of the
// process or its limit of address space (ulimit -v) leaves less, and at most math.MaxInt,
// which is 2 GiB where addresses have 32 bits.
func Available() int64 {
	room := min(free(), addressRoom(), math.MaxInt)
	for _, g := range ownGroups() {
		room = min(room, g.room())
	}
	return room
}

// AvailableFor is Available, but where that is less than need, garbage of the Go heap is
// collected first: it counts as taken.
func AvailableFor(need int64) int64 {
	have := Available()
	if have < need {
		debug.FreeOSMemory()
		have = Available()
	}
	return have
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
