package numa

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// MaxCPU is the largest CPU number that ParseCPUList takes. Linux is built for
// at most 8192 CPUs; the bound keeps "0-4000000000" from filling the memory.
const MaxCPU = 1<<16 - 1

// ParseCPUList reads a CPU list as sysfs writes it, such as "0-3,8,10-11".
// Numbers must rise and no CPU may stand twice. White space around the list is
// ignored; an empty list is no CPUs. The result is never nil unless err is set.
func ParseCPUList(s string) (cpus []int, err error) {
	s = strings.TrimSpace(s)
	cpus = []int{}
	if s == "" {
		return cpus, nil
	}
	for item := range strings.SplitSeq(s, ",") {
		first, last, isRange := strings.Cut(item, "-")
		lo, err := parseCPU(first)
		hi := lo
		if err == nil && isRange {
			hi, err = parseCPU(last)
		}
		switch {
		case err != nil:
			return nil, fmt.Errorf("CPU list %s: %w", clip(s), err)
		case hi < lo:
			return nil, fmt.Errorf("CPU list %s: range %s falls; the smaller number must stand first", clip(s), item)
		case len(cpus) > 0 && lo <= cpus[len(cpus)-1]:
			return nil, fmt.Errorf("CPU list %s: %d follows %d; CPUs must rise", clip(s), lo, cpus[len(cpus)-1])
		}
		for c := lo; c <= hi; c++ {
			cpus = append(cpus, c)
		}
	}
	return cpus, nil
}

func parseCPU(s string) (int, error) {
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return 0, fmt.Errorf("%s is no CPU number; a list such as 0-3,8 is needed", clip(s))
		}
	}
	if s == "" {
		return 0, fmt.Errorf("a CPU number is missing; a list such as 0-3,8 is needed")
	}
	n, err := strconv.Atoi(s)
	if err != nil || n > MaxCPU {
		return 0, fmt.Errorf("CPU %s is beyond %d", clip(s), MaxCPU)
	}
	return n, nil
}

// FormatCPUList writes rising CPU numbers as sysfs does: the inverse of
// ParseCPUList.
func FormatCPUList(cpus []int) string {
	var b strings.Builder
	for i := 0; i < len(cpus); {
		end := i + 1
		for end < len(cpus) && cpus[end] == cpus[end-1]+1 {
			end++
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(cpus[i]))
		if end-i > 1 {
			b.WriteByte('-')
			b.WriteString(strconv.Itoa(cpus[end-1]))
		}
		i = end
	}
	return b.String()
}

// both gives the numbers that are in a and in b, which must rise.
func both(a, b []int) []int {
	out := []int{}
	for _, c := range a {
		if _, ok := slices.BinarySearch(b, c); ok {
			out = append(out, c)
		}
	}
	return out
}

// clip quotes s for a message, shortened.
func clip(s string) string {
	if len(s) > 40 {
		return strconv.Quote(s[:40]) + "..."
	}
	return strconv.Quote(s)
}
