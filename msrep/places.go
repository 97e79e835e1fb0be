package msrep

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/numa"
	"github.com/msrep-go/msrep/sparse"
)

// maxDevices bounds N in cpu:N.
const maxDevices = 1024

// place is where a CPU device goes.
type place struct {
	node    int   // NUMA node of its memory, -1 for none in particular
	cpus    []int // that its workers run on; none for any
	threads int
	memory  int64 // of its node, or of the whole machine; 0 when unknown
}

// places resolves the Devices and NUMA strings for a machine. placed says that
// devices are tied to nodes; note, why placement does less than was asked for.
func (c Config) places(topo *numa.Topology) (out []place, placed bool, note string, err error) {
	groups := topo.CoreGroups()
	n, counted, err := c.countDevices(len(groups))
	if err != nil {
		return nil, false, "", err
	}
	switch c.NUMA {
	case "", NUMAAuto:
		placed = len(groups) > 1 && n >= len(groups)
	case NUMAOn:
		placed = len(groups) > 0 && n >= len(groups)
		switch {
		case !placed:
			note = fmt.Sprintf("%d devices for %d nodes with CPUs: at least one for each is needed", n, len(groups))
		case len(groups) == 1:
			note = fmt.Sprintf("only node %d has CPUs that this process may use", groups[0].Node)
		}
	}
	if placed {
		return placedDevices(topo, groups, n, c.Threads), true, note, nil
	}
	var memory int64
	for _, node := range topo.Nodes {
		memory += node.MemBytes
	}
	for i := range n {
		p := place{node: -1, memory: memory, threads: portion(c.Threads, n, i)}
		if !counted && len(groups) > 0 {
			p.node = groups[i].Node
		}
		out = append(out, p)
	}
	return out, false, note, nil
}

// countDevices reads the Devices string. counted says that it gives the number.
func (c Config) countDevices(groups int) (n int, counted bool, err error) {
	kind, arg, hasArg := strings.Cut(c.Devices, ":")
	switch kind {
	case "", "auto", "cpu":
	default:
		return 0, false, sparse.Inputf("devices", "%q is not known: use auto, cpu, cpu:N, cuda, cuda:0,1,... or sim:N", c.Devices)
	}
	if !hasArg {
		return max(groups, 1), false, nil
	}
	if kind != "cpu" {
		return 0, false, sparse.Inputf("devices", "%q: %s takes no number", c.Devices, kind)
	}
	n, err = strconv.Atoi(arg)
	if err != nil || n < 1 || n > maxDevices {
		return 0, false, sparse.Inputf("devices", "%q: the number of CPU devices must be 1 to %d", c.Devices, maxDevices)
	}
	return n, true, nil
}

// placedDevices gives n devices, at least as many as groups, in the order of their
// nodes. A node's devices share its part of the threads. Devices whose node has no
// memory belong to the nearest one that has.
func placedDevices(topo *numa.Topology, groups []numa.CoreGroup, n, threads int) (out []place) {
	memory := map[int]int64{}
	for _, node := range topo.Nodes {
		memory[node.ID] = node.MemBytes
	}
	near := topo.MemoryNodes()
	all, before := 0, 0
	for _, g := range groups {
		all += len(g.CPUs)
	}
	for i, num := range spread(groups, n) {
		g := groups[i]
		end := before + len(g.CPUs)
		share := int(par.Cut(int64(threads), all, end) - par.Cut(int64(threads), all, before))
		node := near[g.Node]
		for k := range num {
			out = append(out, place{node: node, cpus: g.CPUs, threads: portion(share, num, k), memory: memory[node]})
		}
		before = end
	}
	slices.SortStableFunc(out, func(a, b place) int { return a.node - b.node }) // for nodes without memory
	return out
}

// spread says how many of n devices each group gets: one, and the others one by
// one to the group with the most CPUs for each device it would then have.
func spread(groups []numa.CoreGroup, n int) []int {
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

// portion is the threads of device i of n that share them: at least one.
func portion(threads, n, i int) int {
	return int(max(par.Cut(int64(threads), n, i+1)-par.Cut(int64(threads), n, i), 1))
}
