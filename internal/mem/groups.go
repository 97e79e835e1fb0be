package mem

import (
	"bufio"
	"math"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
)

// group is a Linux control group with a memory limit, such as those of containers and
// batch systems. The kernel kills processes that exceed the limit.
type group struct {
	dir string
	groupFiles
}

// groupFiles names the files of a control group. total is the prefix of the lines of stat
// with the bytes of files in memory, which the kernel frees before the limit is reached.
type groupFiles struct{ limit, used, stat, total string }

var (
	version1 = groupFiles{"memory.limit_in_bytes", "memory.usage_in_bytes", "memory.stat", "total_"}
	version2 = groupFiles{"memory.max", "memory.current", "memory.stat", ""}
)

// noLimit is the number of bytes from which a limit counts as none.
const noLimit = 1 << 50

// ownGroups returns the groups in which this process started, and their parents.
var ownGroups = sync.OnceValue(func() []group { return groupsIn("/") })

// groupsIn returns the groups with a limit. root is the root folder.
func groupsIn(root string) (all []group) {
	f, err := os.Open(filepath.Join(root, "proc/self/cgroup"))
	if err != nil {
		return nil
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); { // number:controllers:path
		parts := strings.SplitN(s.Text(), ":", 3)
		if len(parts) < 3 {
			continue
		}
		base, files := "sys/fs/cgroup", version2
		switch {
		case parts[0] != "0" && !strings.Contains(","+parts[1]+",", ",memory,"):
			continue
		case parts[0] != "0":
			base, files = "sys/fs/cgroup/memory", version1
		}
		// A container may show the path of the group outside the container; its own part
		// then begins at base.
		for p := path.Clean("/" + parts[2]); ; p = path.Dir(p) {
			g := group{filepath.Join(root, base, p), files}
			if limit, ok := g.number(files.limit); ok && limit < noLimit {
				all = append(all, g)
			}
			if p == "/" {
				break
			}
		}
	}
	return all
}

// room returns the number of bytes that can still be allocated in the group.
func (g group) room() int64 {
	limit, ok := g.number(g.limit)
	if !ok {
		return math.MaxInt64
	}
	used, _ := g.number(g.used)
	return max(limit-reserved(limit)-used+min(g.cached(), used), 0)
}

// reserved returns the bytes of a limit that are reserved for allocations without Fits:
// an eighth, at most 64 times minChecked. Linux kills the process if these are missing.
func reserved(limit int64) int64 { return min(limit/8, 64*minChecked) }

// number returns the content of a file; ok is false for "max".
func (g group) number(file string) (n int64, ok bool) {
	text, err := os.ReadFile(filepath.Join(g.dir, file))
	if err != nil {
		return 0, false
	}
	n, err = strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	return n, err == nil && n >= 0
}

// cached returns the number of bytes of files in memory.
func (g group) cached() (sum int64) {
	text, _ := os.ReadFile(filepath.Join(g.dir, g.stat))
	for line := range strings.Lines(string(text)) {
		name, rest, _ := strings.Cut(line, " ")
		if name != g.total+"inactive_file" && name != g.total+"active_file" {
			continue
		}
		if n, err := strconv.ParseInt(strings.TrimSpace(rest), 10, 64); err == nil && n > 0 {
			sum += n
		}
	}
	return sum
}
