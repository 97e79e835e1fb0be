package numa

import "strings"

// The links between two GPUs, from the nearest to the farthest, with the names of
// nvidia-smi topo.
const (
	LinkSelf = "X"    // the same GPU
	LinkPIX  = "PIX"  // through one PCIe switch or bridge
	LinkPXB  = "PXB"  // through several PCIe switches, not through the host bridge
	LinkPHB  = "PHB"  // through the PCIe host bridge (root complex) of both
	LinkNode = "NODE" // between host bridges of one NUMA node
	LinkSys  = "SYS"  // between NUMA nodes
)

// Link returns the name of the PCI path between GPUs a and b, which are indices into
// t.GPUs. The name is one of the Link constants, or "" for an index out of range.
//
// sysfs does not show NVLink: two GPUs that it joins still get the name of their PCI
// path. If a copied tree lost the links of sys/bus/pci/devices, the path is unknown and
// Link distinguishes only NODE and SYS.
func (t *Topology) Link(a, b int) string {
	if a < 0 || b < 0 || a >= len(t.GPUs) || b >= len(t.GPUs) {
		return ""
	}
	if a == b {
		return LinkSelf
	}
	x, y := t.GPUs[a], t.GPUs[b]
	p, q := strings.Split(x.Path, "/"), strings.Split(y.Path, "/")
	common := 0
	for common < min(len(p), len(q)) && p[common] == q[common] {
		common++
	}
	switch {
	case x.Path != "" && common >= 2: // a bridge below the host bridge
		// A switch is two steps: its upstream port, which both share, and a
		// downstream port of each GPU.
		if max(len(p), len(q))-common <= 2 {
			return LinkPIX
		}
		return LinkPXB
	case x.Path != "" && common == 1:
		return LinkPHB
	case x.Node == y.Node:
		return LinkNode
	}
	return LinkSys
}
