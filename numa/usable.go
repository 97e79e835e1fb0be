package numa

import (
	"slices"

	"github.com/msrep-go/msrep/sparse"
)

// usableCPUs returns the CPUs that are online and, on this machine, allowed.
func (s *scan) usableCPUs(nodes []Node) ([]int, error) {
	online, err := s.onlineCPUs(nodes)
	if err != nil {
		return nil, err
	}
	if len(s.allowed) == 0 {
		return online, nil
	}
	if len(online) == 0 {
		s.notef("no CPUs in %s: the %d CPUs that this process may run on are taken", s.tree.path(cpuDir), len(s.allowed))
		return s.allowed, nil
	}
	usable := intersect(online, s.allowed)
	switch {
	case len(usable) == 0:
		s.notef("none of the online CPUs %s is allowed: CPUs %s, that this process may run on, are taken", FormatCPUList(online), FormatCPUList(s.allowed))
		return s.allowed, nil
	case len(usable) < len(online):
		s.notef("this process may run on CPUs %s of %s only (affinity or cpuset)", FormatCPUList(usable), FormatCPUList(online))
	}
	return usable, nil
}

// onlineCPUs reads the files online and present, then the nodes, then asks the Go
// runtime, and returns the first list that is not empty. It may return none if the
// allowed CPUs are known.
func (s *scan) onlineCPUs(nodes []Node) ([]int, error) {
	for _, name := range []string{"online", "present"} {
		cpus, ok, err := s.tree.cpus(cpuDir + "/" + name)
		if err != nil {
			return nil, err
		}
		if ok && len(cpus) > 0 {
			return cpus, nil
		}
	}
	var cpus []int
	for _, n := range nodes {
		cpus = append(cpus, n.CPUs...)
	}
	slices.Sort(cpus)
	cpus = slices.Compact(cpus)
	switch {
	case len(cpus) > 0 || len(s.allowed) > 0:
		return cpus, nil
	case s.live:
		s.notef("no CPUs in %s: the %d CPUs that the Go runtime counts are taken", s.tree.path(cpuDir), s.numCPU)
		for c := range s.numCPU {
			cpus = append(cpus, c)
		}
		return cpus, nil
	}
	return nil, sparse.Inputf(s.tree.path(cpuDir), "lists no CPUs; a file online with a list such as 0-3 is needed")
}

// limit removes the unusable CPUs from each node. CPUs without a node go to the first
// node; a CPU in two nodes is an error.
func (s *scan) limit(nodes []Node, usable []int) error {
	owner := map[int]int{}
	for i := range nodes {
		n := &nodes[i]
		s.nodeCPUs = append(s.nodeCPUs, n.CPUs)
		n.CPUs = intersect(usable, n.CPUs)
		for _, c := range n.CPUs {
			if id, taken := owner[c]; taken {
				return sparse.Inputf(s.tree.path(nodeDir), "CPU %d is in node %d and in node %d; a CPU has one node", c, id, n.ID)
			}
			owner[c] = n.ID
		}
	}
	var lost []int
	for _, c := range usable {
		if _, ok := owner[c]; !ok {
			lost = append(lost, c)
		}
	}
	if len(lost) > 0 {
		first := &nodes[0]
		first.CPUs = append(first.CPUs, lost...)
		slices.Sort(first.CPUs)
		s.notef("CPUs %s are in no node: they are counted to node %d", FormatCPUList(lost), first.ID)
	}
	return nil
}
