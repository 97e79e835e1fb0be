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

// nodeIndex is the place of node id in Nodes, or -1.
func (t *Topology) nodeIndex(id int) int {
	for i, n := range t.Nodes {
		if n.ID == id {
			return i
		}
	}
	return -1
}
