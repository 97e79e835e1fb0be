package numa

import (
	"fmt"
	"slices"
)

// readCores groups the CPUs of a node by physical core and by level 3 cache.
func (s *scan) readCores(n *Node) (err error) {
	n.Cores, err = s.groups(n.CPUs, "topology/thread_siblings_list", true)
	if err != nil {
		return err
	}
	n.L3, err = s.groups(n.CPUs, "cache/index3/shared_cpu_list", false)
	return err
}

// groups groups cpus by the list of companions that sysfs holds for each of them. A CPU
// without a list forms a group by itself if alone is set, and is left out otherwise.
func (s *scan) groups(cpus []int, file string, alone bool) ([][]int, error) {
	groups := [][]int{}
	grouped := map[int]bool{}
	for _, c := range cpus {
		if grouped[c] {
			continue
		}
		list, ok, err := s.tree.cpus(fmt.Sprintf("%s/cpu%d/%s", cpuDir, c, file))
		if err != nil {
			return nil, err
		}
		if !ok && !alone {
			continue
		}
		group := []int{}
		for _, k := range intersect(cpus, list) {
			if k != c && !grouped[k] {
				group = append(group, k)
			}
		}
		group = append(group, c)
		slices.Sort(group)
		for _, k := range group {
			grouped[k] = true
		}
		groups = append(groups, group)
	}
	return groups, nil
}
