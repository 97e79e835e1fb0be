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

// group is a control group of Linux whose memory is limited, as containers and batch
// systems do it. What goes beyond is killed.
type group struct {
	dir string
	groupFiles
}

// groupFiles is the files of a control group, and what the lines of the last one begin with
// that have the bytes of files in memory: these are given back before the limit is reached.
type groupFiles struct{ limit, used, stat, total string }

var (
	version1 = groupFiles{"memory.limit_in_bytes", "memory.usage_in_bytes", "memory.stat", "total_"}
	version2 = groupFiles{"memory.max", "memory.current", "memory.stat", ""}
)

// noLimit is the bytes from which on a limit is none.
const noLimit = 1 << 50

// ownGroups is the groups that this process started in, and those that hold them.
var ownGroups = sync.OnceValue(func() []group { return groupsIn("/") })

// groupsIn finds the groups with a limit. root is the root folder.
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
		// A container may see the path that the group has outside: what is there begins at base.
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

// room is the bytes that may still be asked for in the group.
func (g group) room() int64 {
	limit, ok := g.number(g.limit)
	if !ok {
		return math.MaxInt64
	}
	used, _ := g.number(g.used)
	return max(limit-keptBack(limit)-used+min(g.cached(), used), 0)
}

// keptBack is the bytes of a limit that are left for what nobody asks for: an eighth, and 64
// times leastAsked at most. Linux kills where they lack.
func keptBack(limit int64) int64 { return min(limit/8, 64*leastAsked) }

// number is the content of a file; ok is false for "max".
func (g group) number(file string) (n int64, ok bool) {
	text, err := os.ReadFile(filepath.Join(g.dir, file))
	if err != nil {
		return 0, false
	}
	n, err = strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	return n, err == nil && n >= 0
}

// cached is the bytes of files in memory.
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
