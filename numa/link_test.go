package numa_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/numa"
)

func TestLinkFollowsFromTheNearestCommonBridge(t *testing.T) {
	for _, c := range []struct {
		name, a, b string
		sameNode   bool
		want       string
	}{
		{"two functions below one port", "pci0:0/port/gpu.0", "pci0:0/port/gpu.1", true, numa.LinkPIX},
		{"two ports of a switch", "pci0:0/port/up/d1/gpu1", "pci0:0/port/up/d2/gpu2", true, numa.LinkPIX},
		{"a bridge behind one port of the switch", "pci0:0/port/up/d1/gpu1", "pci0:0/port/up/d2/bridge/gpu2", true, numa.LinkPXB},
		{"two root ports", "pci0:0/port1/gpu1", "pci0:0/port2/gpu2", true, numa.LinkPHB},
		{"on the host bridge itself", "pci0:0/gpu1", "pci0:0/gpu2", true, numa.LinkPHB},
		{"two host bridges of a node", "pci0:0/port/gpu", "pci0:20/port/gpu", true, numa.LinkNode},
		{"two nodes", "pci0:0/port/gpu", "pci0:20/port/gpu", false, numa.LinkSys},
		{"unknown paths", "", "", true, numa.LinkNode},
		{"one unknown path", "", "pci0:0/port/gpu", false, numa.LinkSys},
	} {
		topo := &numa.Topology{GPUs: []numa.GPU{{Path: c.a}, {Path: c.b}}}
		if !c.sameNode {
			topo.GPUs[1].Node = 1
		}
		require.Equal(t, c.want, topo.Link(0, 1), c.name)
		require.Equal(t, c.want, topo.Link(1, 0), c.name)
	}
}
