package numa

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// MaxCPU is the largest CPU number that ParseCPUList accepts. Linux is built for at most
// 8192 CPUs; the limit keeps "0-4000000000" from filling the memory.
const MaxCPU = 1<<16 - 1

// ParseCPUList parses a CPU list as sysfs writes it, such as "0-3,8,10-11". The numbers
// must be in ascending order, without duplicates. White space around the list is ignored,
// and an empty list holds no CPUs. The result is nil only if err is set.
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
			return nil, fmt.Errorf("CPU list %s: range %s decreases; the smaller number must come first", clip(s), item)
		case len(cpus) > 0 && lo <= cpus[len(cpus)-1]:
			return nil, fmt.Errorf("CPU list %s: %d follows %d; CPU numbers must increase", clip(s), lo, cpus[len(cpus)-1])
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
			return 0, fmt.Errorf("%s is not a CPU number; a list such as 0-3,8 is needed", clip(s))
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

// FormatCPUList formats CPU numbers, in ascending order, as sysfs does. It is the inverse
// of ParseCPUList.
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

// intersect returns the numbers that are in a and in b. Both are in ascending order.
func intersect(a, b []int) []int {
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
