package msrep

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/numatest"
	"github.com/msrep-go/msrep/kernels/cpu"
	"github.com/msrep-go/msrep/msrep/internal/placement"
	"github.com/msrep-go/msrep/numa"
	"github.com/msrep-go/msrep/partition"
)

// This machine is not the copied one, so nothing is pinned or bound. The test checks the devices, their order, CPUs and
// threads, and the parts of one matrix.
func TestPlacementOnCopiedMachinesMatchesGoldenFiles(t *testing.T) {
	for _, name := range numatest.Machines {
		t.Run(name, func(t *testing.T) {
			topo, err := numa.Discover(numatest.Tree(t, name))
			require.NoError(t, err)
			golden := filepath.Join("testdata", "placement", name+".golden")
			got := describePlacement(t, topo)
			numatest.Golden(t, golden, got)
		})
	}
}

func describePlacement(t *testing.T, topo *numa.Topology) string {
	var b strings.Builder
	for _, devices := range []string{"auto", "cpu:1", "cpu:7"} {
		fmt.Fprintf(&b, "%s with a thread for each CPU\n", devices)
		cpus := 0
		for _, g := range topo.CoreGroups() {
			cpus += len(g.CPUs)
		}
		places, placed, note, err := placement.Request{Devices: devices, Threads: cpus}.CPUs(topo)
		require.NoError(t, err)
		require.Empty(t, note)
		sys := newSystem()
		for i, p := range places {
			fmt.Fprintf(&b, "  cpu:%d on node %d: CPUs %s, %d threads, %d bytes of memory\n", i, p.Node, numa.FormatCPUList(p.CPUs), p.Threads, p.Memory)
			sys.add(t, p.Node, false)
		}
		if placed {
			sys.place(topo)
			fmt.Fprintf(&b, "  other nodes are %.2f times as far; with 3, 10, 30 entries for each of a million columns x is read %s, %s, %s\n",
				sys.nodes.Farness, chosenX(sys, 1e6, 3), chosenX(sys, 1e6, 10), chosenX(sys, 1e6, 30))
		}
		describeParts(t, &b, sys)
	}
	var gpus []numa.DevicePlace
	for _, g := range topo.GPUs {
		if g.NVIDIA {
			gpus = append(gpus, numa.DevicePlace{ID: g.PCI, Node: g.Node})
		}
	}
	if len(gpus) == 0 {
		return b.String()
	}
	fmt.Fprintf(&b, "devices like the NVIDIA GPUs\n")
	sys := newSystem()
	for _, s := range topo.DeviceShares(gpus) {
		fmt.Fprintf(&b, "  %s on node %d\n", gpus[s.Device].ID, s.Node)
		sys.add(t, s.Node, true)
	}
	sys.place(topo)
	describeParts(t, &b, sys)
	return b.String()
}

// add opens a CPU device with one thread that runs on any CPU.
func (s *System) add(t *testing.T, node int, separate bool) {
	d, err := cpu.Open(cpu.Config{Index: len(s.devices().List), Threads: 1, NUMANode: node})
	require.NoError(t, err)
	s.devices().List = append(s.devices().List, asDiscrete(d, separate))
}

func describeParts(t *testing.T, b *strings.Builder, sys *System) {
	a := wideMatrix(1000)
	plan := planOf(t, sys, a, PlanOptions{})
	for _, n := range plan.Nodes() {
		fmt.Fprintf(b, "  node %d: devices %v, %d nonzeros\n", n.Node, n.Devices, n.NNZ)
	}
	if len(sys.nodes.Groups) == 0 {
		fmt.Fprintf(b, "  not placed\n")
	}
	for i, p := range plan.parts {
		fmt.Fprintf(b, "  part %d: nonzeros [%d, %d], owns rows [%d, %d), carry %v\n", i, p.StartIdx, p.EndIdx, p.OwnFirst, p.OwnEnd, p.StartFlag)
	}
	fmt.Fprintf(b, "  imbalance %.6f\n", partition.Imbalance(plan.parts))
	require.NoError(t, partition.Verify(plan.parts, a.RowPtr))
	require.LessOrEqual(t, partition.Imbalance(plan.parts), 1+float64(len(sys.devices().List))/float64(plan.NNZ()))
	require.NoError(t, sys.Close())
}

func TestTheNamesOfNUMAAreChecked(t *testing.T) {
	for _, devices := range []string{"auto", "cpu:2", "sim:1"} {
		_, err := Open(Config{Devices: devices, NUMA: "perhaps"})
		require.ErrorContains(t, err, `numa: "perhaps" is not known: use auto, on or off`, devices)
	}
}
