package numa_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/numatest"
	"github.com/msrep-go/msrep/numa"
)

func TestMachinesAreDiscoveredAsTheirGoldenFilesSay(t *testing.T) {
	for _, name := range numatest.Machines {
		t.Run(name, func(t *testing.T) {
			root := numatest.Tree(t, name)
			topo, err := numa.Discover(root)
			require.NoError(t, err)
			got := strings.ReplaceAll(describe(topo), root, "ROOT")
			golden := filepath.Join("testdata", name+".golden")
			numatest.Golden(t, golden, got)
		})
	}
}

// describe returns the whole content of a topology: nodes, GPUs, links, core groups, and
// the shares of one device per NVIDIA GPU (per GPU if there is none) and of one device
// per core group.
func describe(t *numa.Topology) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	for _, n := range t.Nodes {
		line("node %d: CPUs %s; %d cores; L3 %s; %d bytes; distances %v",
			n.ID, numa.FormatCPUList(n.CPUs), len(n.Cores), lists(n.L3), n.MemBytes, n.Distance)
		line("  cores %s", lists(n.Cores))
	}
	var gpus, groups []numa.DevicePlace
	for _, g := range t.GPUs {
		line("gpu %s: %s %s class %s nvidia %v; node %d; CPUs %s",
			g.PCI, g.Vendor, g.Device, g.Class, g.NVIDIA, g.Node, numa.FormatCPUList(g.CPUs))
		line("  path %s", g.Path)
	}
	anyNVIDIA := slices.ContainsFunc(t.GPUs, func(g numa.GPU) bool { return g.NVIDIA })
	for _, g := range t.GPUs {
		if g.NVIDIA == anyNVIDIA {
			gpus = append(gpus, numa.DevicePlace{ID: g.PCI, Node: g.Node})
		}
	}
	for a := range t.GPUs {
		row := ""
		for c := range t.GPUs {
			row += fmt.Sprintf(" %-4s", t.Link(a, c))
		}
		line("link %s:%s", t.GPUs[a].PCI, strings.TrimRight(row, " "))
	}
	for _, g := range t.CoreGroups() {
		line("core group on node %d: CPUs %s, %d cores", g.Node, numa.FormatCPUList(g.CPUs), g.Cores)
		groups = append(groups, numa.DevicePlace{ID: fmt.Sprintf("cpu:%d", len(groups)), Node: g.Node})
	}
	for _, devices := range [][]numa.DevicePlace{gpus, groups} {
		for _, s := range t.DeviceShares(devices) {
			line("share %s: %d/%d from %d/%d; node %d: %d/%d from %d/%d", devices[s.Device].ID,
				s.Num, s.Den, s.First, s.Den, s.Node, s.NodeNum, s.Den, s.NodeFirst, s.Den)
		}
	}
	for _, n := range t.Notes {
		line("note %s", n)
	}
	return b.String()
}

func lists(groups [][]int) string {
	s := make([]string, len(groups))
	for i, g := range groups {
		s[i] = numa.FormatCPUList(g)
	}
	return strings.Join(s, " ")
}
