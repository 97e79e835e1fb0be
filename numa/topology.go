package numa

// Topology is what Discover found out about a machine.
type Topology struct {
	Nodes []Node   `json:"nodes"`           // by rising ID, at least one
	GPUs  []GPU    `json:"gpus"`            // by PCI address
	Notes []string `json:"notes,omitempty"` // what was missing and what was assumed instead
}

// Node is a NUMA node.
type Node struct {
	ID       int     `json:"id"`                 // Linux number; numbers may have gaps (0 and 8 on POWER9)
	CPUs     []int   `json:"cpus"`               // usable CPUs, rising; none for a node of memory only
	Cores    [][]int `json:"cores"`              // CPUs by physical core
	L3       [][]int `json:"l3,omitempty"`       // CPUs by level 3 cache, where sysfs tells
	MemBytes int64   `json:"mem_bytes"`          // memory in bytes; 0 for a node without memory
	Distance []int   `json:"distance,omitempty"` // to Topology.Nodes[i] at [i]; 10 is local
}

// GPU is a display or 3D controller on the PCI bus, of any vendor.
type GPU struct {
	PCI    string `json:"pci"`    // address domain:bus:device.function, such as 0000:06:00.0
	Vendor string `json:"vendor"` // PCI vendor, such as 0x10de
	Device string `json:"device"` // PCI device, such as 0x1db1
	Class  string `json:"class"`  // PCI class, such as 0x030200 for a 3D controller
	NVIDIA bool   `json:"nvidia"` // Vendor is 0x10de
	Node   int    `json:"node"`   // ID of the node that it hangs on
	CPUs   []int  `json:"cpus"`   // usable CPUs near it
	Path   string `json:"path"`   // PCI path from the host bridge to the device; "" where unknown
}

// CoreGroup is the CPUs that one CPU device runs on.
type CoreGroup struct {
	Node  int   `json:"node"`  // ID of the node
	CPUs  []int `json:"cpus"`  // usable CPUs of the node, rising
	Cores int   `json:"cores"` // physical cores among them
}

// CoreGroups gives one group for every node that has usable CPUs, in the order
// of Nodes. A node, not a core or a level 3 cache, is the unit: all of its CPUs
// read the same memory at the same speed, so that a finer split of a product
// that is bound by memory only adds borders to merge.
func (t *Topology) CoreGroups() []CoreGroup {
	var groups []CoreGroup
	for _, n := range t.Nodes {
		if len(n.CPUs) > 0 {
			groups = append(groups, CoreGroup{Node: n.ID, CPUs: n.CPUs, Cores: len(n.Cores)})
		}
	}
	return groups
}

// MemoryNodes gives, for the ID of each node, the node whose memory is nearest: itself
// unless it has none; of several at the same distance the one that is nearest to the
// fewest other nodes so far. Where distances or memory are not known it is the node.
func (t *Topology) MemoryNodes() map[int]int {
	users := make([]int, len(t.Nodes))
	nearest := map[int]int{}
	for _, n := range t.Nodes {
		nearest[n.ID] = n.ID
		if n.MemBytes > 0 {
			continue
		}
		best := -1
		for i, d := range n.Distance[:min(len(n.Distance), len(t.Nodes))] {
			if t.Nodes[i].MemBytes > 0 && (best < 0 || d < n.Distance[best] || d == n.Distance[best] && users[i] < users[best]) {
				best = i
			}
		}
		if best >= 0 {
			users[best]++
			nearest[n.ID] = t.Nodes[best].ID
		}
	}
	return nearest
}

// unknownFarness is that of two sockets of today: the usual distances are 10 and 20
// to 21.
const unknownFarness = 2

// Farness is how much longer than its own memory a node takes to reach that of
// another one of these, on average: the mean of their distances over 10. It is 2
// where there are fewer than two nodes or a distance is not known.
func (t *Topology) Farness(nodes []int) float64 {
	sum, pairs := 0, 0
	for _, a := range nodes {
		for _, b := range nodes {
			if a == b {
				continue
			}
			i, j := t.nodeIndex(a), t.nodeIndex(b)
			if i < 0 || j < 0 || j >= len(t.Nodes[i].Distance) || t.Nodes[i].Distance[j] < 10 {
				return unknownFarness
			}
			sum, pairs = sum+t.Nodes[i].Distance[j], pairs+1
		}
	}
	if pairs == 0 {
		return unknownFarness
	}
	return float64(sum) / float64(10*pairs)
}

// nodeIndex is the place of node id in Nodes, or -1.
func (t *Topology) nodeIndex(id int) int {
	for i, n := range t.Nodes {
		if n.ID == id {
			return i
		}
	}
	return -1
}
