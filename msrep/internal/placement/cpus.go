package placement

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/numa"
	"github.com/msrep-go/msrep/sparse"
)

// maxDevices is the largest N in cpu:N.
const maxDevices = 1024

// CPUDevice is the placement of one CPU device.
type CPUDevice struct {
	Node    int   // NUMA node of its memory, -1 for any
	CPUs    []int // CPUs of its workers; none means any
	Threads int
	Memory  int64 // bytes of its node, or of the whole machine; 0 means unknown
}

// CPUs returns the CPU devices that a request selects on a machine. placed reports whether devices are bound to nodes.
// note explains why On has less effect than requested, or is "".
func (r Request) CPUs(topo *numa.Topology) (out []CPUDevice, placed bool, note string, err error) {
	groups := topo.CoreGroups()
	n, counted, err := r.countDevices(len(groups))
	if err != nil {
		return nil, false, "", err
	}
	switch r.NUMA {
	case "", Auto:
		placed = len(groups) > 1 && n >= len(groups)
	case On:
		placed = len(groups) > 0 && n >= len(groups)
		switch {
		case !placed:
			note = fmt.Sprintf("%d devices for %d nodes with CPUs: at least one for each is needed", n, len(groups))
		case len(groups) == 1:
			note = fmt.Sprintf("only node %d has CPUs that this process may use", groups[0].Node)
		}
	}
	if placed {
		return placedDevices(topo, groups, n, r.Threads), true, note, nil
	}
	var memory int64
	for _, node := range topo.Nodes {
		memory += node.MemBytes
	}
	for i := range n {
		p := CPUDevice{Node: -1, Memory: memory, Threads: portion(r.Threads, n, i)}
		if !counted && len(groups) > 0 {
			p.Node = groups[i].Node
		}
		out = append(out, p)
	}
	return out, false, note, nil
}

// countDevices returns the number of CPU devices, and whether the Devices string states it.
func (r Request) countDevices(groups int) (n int, counted bool, err error) {
	kind, arg, hasArg := strings.Cut(r.Devices, ":")
	switch kind {
	case "", "auto", "cpu":
	default:
		return 0, false, sparse.Inputf("devices", "%q is not known: use auto, cpu, cpu:N, cuda, cuda:0,1,... or sim:N", r.Devices)
	}
	if !hasArg {
		return max(groups, 1), false, nil
	}
	if kind != "cpu" {
		return 0, false, sparse.Inputf("devices", "%q: %s takes no number", r.Devices, kind)
	}
	n, err = strconv.Atoi(arg)
	if err != nil || n < 1 || n > maxDevices {
		return 0, false, sparse.Inputf("devices", "%q: the number of CPU devices must be 1 to %d", r.Devices, maxDevices)
	}
	return n, true, nil
}

// placedDevices returns n devices, sorted by node; n is at least the number of groups. The threads are divided among
// the groups in proportion to their CPUs, then among the devices of each group. A device on a node without memory
// belongs to the nearest node with memory.
func placedDevices(topo *numa.Topology, groups []numa.CoreGroup, n, threads int) (out []CPUDevice) {
	memory := map[int]int64{}
	for _, node := range topo.Nodes {
		memory[node.ID] = node.MemBytes
	}
	near := topo.MemoryNodes()
	all, before := 0, 0
	for _, g := range groups {
		all += len(g.CPUs)
	}
	for i, num := range devicesPerGroup(groups, n) {
		g := groups[i]
		end := before + len(g.CPUs)
		own := int(par.Cut(int64(threads), all, end) - par.Cut(int64(threads), all, before))
		node := near[g.Node]
		for k := range num {
			out = append(out, CPUDevice{Node: node, CPUs: g.CPUs, Threads: portion(own, num, k), Memory: memory[node]})
		}
		before = end
	}
	slices.SortStableFunc(out, func(a, b CPUDevice) int { return a.Node - b.Node }) // for nodes without memory
	return out
}

// devicesPerGroup distributes n devices over the groups. Each group gets one device. Each further device goes to the
// group that would then have the most CPUs for each of its devices.
func devicesPerGroup(groups []numa.CoreGroup, n int) []int {
	num := make([]int, len(groups))
	for i := range num {
		num[i] = 1
	}
	for range n - len(groups) {
		best := 0
		for i, g := range groups {
			if len(g.CPUs)*(num[best]+1) > len(groups[best].CPUs)*(num[i]+1) {
				best = i
			}
		}
		num[best]++
	}
	return num
}

// portion returns the number of threads of device i if n devices share threads: at least one.
func portion(threads, n, i int) int {
	return int(max(par.Cut(int64(threads), n, i+1)-par.Cut(int64(threads), n, i), 1))
}
