package numa

import "strings"

// The links between two GPUs, named as nvidia-smi topo names them, from the
// nearest to the farthest.
const (
	LinkSelf = "X"    // one and the same GPU
	LinkPIX  = "PIX"  // through one PCIe switch or bridge
	LinkPXB  = "PXB"  // through several PCIe switches, not through the host bridge
	LinkPHB  = "PHB"  // through the PCIe host bridge (root complex) that both hang on
	LinkNode = "NODE" // between host bridges of one NUMA node
	LinkSys  = "SYS"  // between NUMA nodes
)

// Link names the PCI path between GPUs a and b, places in t.GPUs: one of the
// Link constants, or "" for a place that is not there.
//
// NVLink cannot be seen in sysfs: two GPUs that it joins still get the name of
// their PCI path. Where a copied tree lost the links of sys/bus/pci/devices the
// path is unknown and only NODE and SYS are told apart.
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
