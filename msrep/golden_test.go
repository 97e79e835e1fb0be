package msrep

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/numatest"
	"github.com/msrep-go/msrep/kernels/cpu"
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
		places, placed, note, err := Config{Devices: devices, Threads: cpus}.places(topo)
		require.NoError(t, err)
		require.Empty(t, note)
		sys := &System{closers: map[io.Closer]bool{}}
		for i, p := range places {
			fmt.Fprintf(&b, "  cpu:%d on node %d: CPUs %s, %d threads, %d bytes of memory\n", i, p.node, numa.FormatCPUList(p.cpus), p.threads, p.memory)
			sys.add(t, p.node, false)
		}
		if placed {
			sys.place(topo)
			fmt.Fprintf(&b, "  other nodes are %.2f times as far; with 3, 10, 30 entries for each of a million columns x is read %s, %s, %s\n",
				sys.farness, chosenX(sys, 1e6, 3), chosenX(sys, 1e6, 10), chosenX(sys, 1e6, 30))
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
	sys := &System{closers: map[io.Closer]bool{}}
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
	d, err := cpu.Open(cpu.Config{Index: len(s.devices), Threads: 1, NUMANode: node})
	require.NoError(t, err)
	s.devices = append(s.devices, asDiscrete(d, separate))
}

func describeParts(t *testing.T, b *strings.Builder, sys *System) {
	a := wideMatrix(1000)
	plan := planOf(t, sys, a, PlanOptions{})
	for _, n := range plan.Nodes() {
		fmt.Fprintf(b, "  node %d: devices %v, %d nonzeros\n", n.Node, n.Devices, n.NNZ)
	}
	if len(sys.nodes) == 0 {
		fmt.Fprintf(b, "  not placed\n")
	}
	for i, p := range plan.parts {
		fmt.Fprintf(b, "  part %d: nonzeros [%d, %d], owns rows [%d, %d), carry %v\n", i, p.StartIdx, p.EndIdx, p.OwnFirst, p.OwnEnd, p.StartFlag)
	}
	fmt.Fprintf(b, "  imbalance %.6f\n", partition.Imbalance(plan.parts))
	require.NoError(t, partition.Verify(plan.parts, a.RowPtr))
	require.LessOrEqual(t, partition.Imbalance(plan.parts), 1+float64(len(sys.devices))/float64(plan.NNZ()))
	require.NoError(t, sys.Close())
}

func TestDevicesPerGroupFollowsTheCPUs(t *testing.T) {
	groups := func(cpus ...int) (out []numa.CoreGroup) {
		for i, n := range cpus {
			out = append(out, numa.CoreGroup{Node: i, CPUs: make([]int, n)})
		}
		return out
	}
	require.Equal(t, []int{2, 2}, devicesPerGroup(groups(4, 4), 4))
	require.Equal(t, []int{1, 3}, devicesPerGroup(groups(2, 6), 4))
	require.Equal(t, []int{1, 1, 1}, devicesPerGroup(groups(1, 100, 1), 3))
	require.Equal(t, []int{1, 8, 1}, devicesPerGroup(groups(1, 100, 1), 10))
	require.Equal(t, []int{4, 3}, devicesPerGroup(groups(8, 8), 7))
}

func TestNUMAIsOnWhereThereAreSeveralNodesAndADeviceForEach(t *testing.T) {
	two := twoNodesOf(4, 4)
	for _, c := range []struct {
		numa    NUMA
		devices string
		topo    *numa.Topology
		placed  bool
		note    string
	}{
		{NUMAAuto, "auto", two, true, ""},
		{"", "cpu:2", two, true, ""},
		{"", "cpu:1", two, false, ""},
		{"", "auto", twoNodesOf(4, 0), false, ""},
		{"", "auto", &numa.Topology{}, false, ""},
		{NUMAOff, "cpu:4", two, false, ""},
		{NUMAOn, "cpu:1", two, false, "1 devices for 2 nodes"},
		{NUMAOn, "cpu:2", twoNodesOf(4, 0), true, "only node 0 has CPUs"},
		{NUMAOn, "auto", &numa.Topology{}, false, "for 0 nodes"},
	} {
		places, placed, note, err := Config{Devices: c.devices, NUMA: c.numa, Threads: 7}.places(c.topo)
		require.NoError(t, err)
		require.Equal(t, c.placed, placed, "%+v", c)
		require.Contains(t, note, c.note)
		require.Equal(t, c.note == "", note == "", "%+v: %s", c, note)
		threads := 0
		for _, p := range places {
			require.Equal(t, placed, len(p.cpus) > 0)
			threads += p.threads
		}
		require.Equal(t, 7, threads, "%+v", c)
	}
	for _, devices := range []string{"auto", "cpu:2", "sim:1"} {
		_, err := Open(Config{Devices: devices, NUMA: "perhaps"})
		require.ErrorContains(t, err, `numa: "perhaps" is not known: use auto, on or off`, devices)
	}
}

func TestDevicesOfANodeWithoutMemoryBelongToTheNearestNodeWithMemory(t *testing.T) {
	far := func(nearest int) []int { d := []int{30, 30, 30}; d[nearest] = 20; return d }
	topo := &numa.Topology{Nodes: []numa.Node{
		{ID: 0, CPUs: []int{0, 1}, Distance: far(2)}, {ID: 1, CPUs: []int{2, 3}, MemBytes: 10}, {ID: 2, CPUs: []int{4, 5}, MemBytes: 20},
	}}
	var got []string
	for _, p := range placedDevices(topo, topo.CoreGroups(), 3, 6) {
		got = append(got, fmt.Sprint(p.node, p.cpus, p.threads, p.memory))
	}
	require.Equal(t, []string{"1 [2 3] 2 10", "2 [0 1] 2 20", "2 [4 5] 2 20"}, got)
}

// twoNodesOf returns a machine with a CPUs on node 0 and b on node 1.
func twoNodesOf(a, b int) *numa.Topology {
	t := &numa.Topology{Nodes: []numa.Node{{ID: 0}, {ID: 1}}}
	for c := range a + b {
		n := &t.Nodes[min(c/a, 1)]
		n.CPUs = append(n.CPUs, c)
	}
	return t
}
