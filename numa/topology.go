package numa

// Topology is the result of Discover.
type Topology struct {
	Nodes []Node   `json:"nodes"`           // at least one, in ascending order of ID
	GPUs  []GPU    `json:"gpus"`            // in the order of PCI addresses
	Notes []string `json:"notes,omitempty"` // what was missing, and what Discover assumed instead
}

// Node is a NUMA node.
type Node struct {
	ID       int     `json:"id"`                 // Linux number; numbers may have gaps (0 and 8 on POWER9)
	CPUs     []int   `json:"cpus"`               // usable CPUs, ascending; none for a node of memory only
	Cores    [][]int `json:"cores"`              // CPUs by physical core
	L3       [][]int `json:"l3,omitempty"`       // CPUs by level 3 cache, if sysfs lists them
	MemBytes int64   `json:"mem_bytes"`          // memory in bytes; 0 for a node without memory
	Distance []int   `json:"distance,omitempty"` // [i] is the distance to Topology.Nodes[i]; 10 is local
}

// GPU is a display or 3D controller on the PCI bus, of any vendor.
type GPU struct {
	PCI    string `json:"pci"`    // address domain:bus:device.function, such as 0000:06:00.0
	Vendor string `json:"vendor"` // PCI vendor, such as 0x10de
	Device string `json:"device"` // PCI device, such as 0x1db1
	Class  string `json:"class"`  // PCI class, such as 0x030200 for a 3D controller
	NVIDIA bool   `json:"nvidia"` // Vendor is 0x10de
	Node   int    `json:"node"`   // ID of its node
	CPUs   []int  `json:"cpus"`   // usable CPUs near it
	Path   string `json:"path"`   // PCI path from the host bridge to the device; "" if unknown
}

// CoreGroup is the CPUs of one CPU device.
type CoreGroup struct {
	Node  int   `json:"node"`  // ID of the node
	CPUs  []int `json:"cpus"`  // usable CPUs of the node, ascending
	Cores int   `json:"cores"` // physical cores among them
}

// CoreGroups returns one group for every node that has usable CPUs, in the order of
// Nodes. The unit is a node, not a core or a level 3 cache: all CPUs of a node read the
// same memory at the same speed. A product is bound by memory, so a finer split would
// only add borders to merge.
func (t *Topology) CoreGroups() []CoreGroup {
	var groups []CoreGroup
	for _, n := range t.Nodes {
		if len(n.CPUs) > 0 {
			groups = append(groups, CoreGroup{Node: n.ID, CPUs: n.CPUs, Cores: len(n.Cores)})
		}
	}
	return groups
}

// MemoryNodes maps the ID of each node to the ID of the node whose memory is nearest. A
// node with memory maps to itself. If several nodes are equally near, MemoryNodes chooses
// the one that the fewest nodes map to so far. A node maps to itself if its distances are
// unknown or no node has memory.
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

// unknownFarness is the Farness of two sockets of today: their distances are usually 10,
// and 20 to 21.
const unknownFarness = 2

// Farness returns the ratio of the time of an access to the memory of another of these
// nodes to that of an access to local memory: the mean distance between two of the nodes,
// divided by 10, the distance of a node to itself. It returns 2 if there are fewer than two
// nodes or a distance is not known.
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

// nodeIndex returns the index in Nodes of the node with this ID, or -1.
func (t *Topology) nodeIndex(id int) int {
	for i, n := range t.Nodes {
		if n.ID == id {
			return i
		}
	}
	return -1
}
