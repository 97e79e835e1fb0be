package numa_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/numatest"
	"github.com/msrep-go/msrep/numa"
	"github.com/msrep-go/msrep/sparse"
)

func TestThisMachineHasACoreGroup(t *testing.T) {
	for _, root := range []string{"", "/"} {
		topo, err := numa.Discover(root)
		require.NoError(t, err)
		cpus := 0
		for _, g := range topo.CoreGroups() {
			require.NotZero(t, g.Cores)
			require.LessOrEqual(t, g.Cores, len(g.CPUs))
			cpus += len(g.CPUs)
		}
		// NumCPU counts the allowed CPUs at the start of the process.
		require.Equal(t, runtime.NumCPU(), cpus)
	}
}

func TestTopologySurvivesJSON(t *testing.T) {
	topo, err := numa.Discover(numatest.Tree(t, "dgx1"))
	require.NoError(t, err)
	text, err := json.Marshal(topo)
	require.NoError(t, err)
	require.NotContains(t, string(text), "null")
	var again numa.Topology
	require.NoError(t, json.Unmarshal(text, &again))
	require.Equal(t, topo, &again)
	require.Equal(t, numa.LinkPIX, again.Link(0, 1))
}

func TestWithoutNodeFoldersOneNodeHasAllOnlineCPUs(t *testing.T) {
	root := numatest.Write(t, `
		sys/devices/system/cpu/present = 0-7
		sys/devices/system/cpu/online = 0-3,6
		proc/meminfo = MemTotal: 100 kB
	`)
	topo, err := numa.Discover(root)
	require.NoError(t, err)
	require.Len(t, topo.Nodes, 1)
	n := topo.Nodes[0]
	require.Equal(t, []int{0, 1, 2, 3, 6}, n.CPUs)
	require.Len(t, n.Cores, 5, "without sibling lists every CPU is a core")
	require.Equal(t, int64(102400), n.MemBytes)
	require.Len(t, topo.Notes, 1)
	require.Contains(t, topo.Notes[0], "one node with all CPUs is assumed")
}

func TestWithoutListOfOnlineCPUsTheNodesProvideThem(t *testing.T) {
	root := numatest.Write(t, `
		sys/devices/system/node/node1/cpulist = 4-5
		sys/devices/system/node/node0/cpulist = 0-1
	`)
	topo, err := numa.Discover(root)
	require.NoError(t, err)
	require.Equal(t, []int{0, 1}, topo.Nodes[0].CPUs)
	require.Equal(t, []int{4, 5}, topo.Nodes[1].CPUs)
}

func TestWrongNumberOfDistancesIsLeftOutWithANote(t *testing.T) {
	root := numatest.Write(t, `
		sys/devices/system/node/node0/cpulist = 0-1
		sys/devices/system/node/node0/distance = 10 20 30
	`)
	topo, err := numa.Discover(root)
	require.NoError(t, err)
	require.Nil(t, topo.Nodes[0].Distance)
	require.Contains(t, topo.Notes[0], "3 distances for 1 nodes")
}

func TestCPUsOfNoNodeGoToTheFirst(t *testing.T) {
	root := numatest.Write(t, `
		sys/devices/system/cpu/online = 0-5
		sys/devices/system/node/node2/cpulist = 1-2
		sys/devices/system/node/node3/cpulist = 4
	`)
	topo, err := numa.Discover(root)
	require.NoError(t, err)
	require.Equal(t, []int{0, 1, 2, 3, 5}, topo.Nodes[0].CPUs)
	require.Contains(t, topo.Notes[0], "CPUs 0,3,5 are in no node: they are counted to node 2")
}

func TestWithoutPCILinksOnlyNodesDetermineTheLink(t *testing.T) {
	root := numatest.Write(t, `
		sys/devices/system/cpu/online = 0-3
		sys/devices/system/node/node{0,1}/meminfo = Node 0 MemTotal: 1 kB
		sys/bus/pci/devices/0000:{01,02,03}:00.0/class = 0x030200
		sys/bus/pci/devices/0000:{01,02}:00.0/numa_node = 0
		sys/bus/pci/devices/0000:03:00.0/numa_node = 1
	`)
	topo, err := numa.Discover(root)
	require.NoError(t, err)
	require.Equal(t, numa.LinkNode, topo.Link(0, 1))
	require.Equal(t, numa.LinkSys, topo.Link(1, 2))
	require.Equal(t, numa.LinkSelf, topo.Link(2, 2))
	require.Equal(t, "", topo.Link(0, 3))
	require.Equal(t, "", topo.Link(3, 0))
	require.Equal(t, "", topo.Link(-1, 0))
	require.Equal(t, []int{0, 1, 2, 3}, topo.GPUs[0].CPUs, "without local_cpulist those of the node")
}

func TestFaultyTreesAreRefusedByNameOfTheFile(t *testing.T) {
	const (
		cpu  = "sys/devices/system/cpu/"
		node = "sys/devices/system/node/"
		gpu  = "sys/bus/pci/devices/0000:01:00.0/"
		ok   = cpu + "online = 0-3\n"
		isGP = ok + gpu + "class = 0x030000\n"
	)
	for _, c := range []struct{ tree, file, want string }{
		{"etc/passwd = x", "", "folder that holds a copied sys is needed"},
		{"devices/system/cpu/online = 0", "", "folder that holds a copied sys is needed"},
		{cpu + "kernel_max = 5", cpu, "lists no CPUs"},
		{cpu + "online = 0-x", cpu + "online", "not a CPU number"},
		{cpu + "online = 0-4000000000", cpu + "online", "beyond 65535"},
		{cpu + "online = " + strings.Repeat("1", 1<<17), cpu + "online", "more than 65536 bytes"},
		{ok + cpu + "cpu2/topology/thread_siblings_list = 2-1", cpu + "cpu2/topology/thread_siblings_list", "decreases"},
		{ok + cpu + "cpu2/cache/index3/shared_cpu_list = 2,2", cpu + "cpu2/cache/index3/shared_cpu_list", "must increase"},
		{ok + node + "node0/cpulist = *", node + "node0/cpulist", "not a CPU number"},
		{ok + node + "node{0,1}/cpulist = 0-3", node, "CPU 0 is in node 0 and in node 1"},
		{ok + node + "node0/distance = 10 -1", node + "node0/distance", "not a distance"},
		{ok + node + "node0/meminfo = Node 0 MemTotal: lots kB", node + "node0/meminfo", "MemTotal"},
		{ok + node + "node0/meminfo = Node 0 MemTotal: 12", node + "node0/meminfo", "a number of kB is needed"},
		{ok + node + "node0/meminfo = Node 0 MemTotal: 9223372036854775807 kB", node + "node0/meminfo", "2^53-1"},
		{ok + gpu + "class = 3D", gpu + "class", "6 hexadecimal digits"},
		{isGP + gpu + "vendor = 0x10d", gpu + "vendor", "4 hexadecimal digits"},
		{isGP + gpu + "device = 1db1", gpu + "device", "4 hexadecimal digits"},
		{isGP + gpu + "numa_node = -2", gpu + "numa_node", "is not a node"},
		{isGP + gpu + "local_cpulist = 0-", gpu + "local_cpulist", "missing"},
	} {
		root := numatest.Write(t, c.tree)
		_, err := numa.Discover(root)
		var in *sparse.InputError
		require.ErrorAs(t, err, &in, "%s", c.tree[:min(len(c.tree), 80)])
		require.Equal(t, filepath.Join(root, filepath.FromSlash(c.file)), in.Subject)
		require.ErrorContains(t, err, c.want)
	}
}

func TestRootsThatAreNoFolderAreRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o644))
	for _, root := range []string{file, file + "-absent"} {
		_, err := numa.Discover(root)
		var in *sparse.InputError
		require.ErrorAs(t, err, &in)
		require.Equal(t, root, in.Subject)
	}
}

func TestFilesThatCannotBeReadAreNoted(t *testing.T) {
	// A folder where a file should be, and a link out of the tree.
	root := numatest.Write(t, `
		sys/devices/system/cpu/online = 0-3
		sys/devices/system/cpu/cpu1/topology/thread_siblings_list/x = 1
		sys/devices/system/node/node0/x = 1
	`)
	require.NoError(t, os.Symlink("/proc/self/environ", filepath.Join(root, "sys/devices/system/node/node0/cpulist")))
	topo, err := numa.Discover(root)
	require.NoError(t, err)
	require.Equal(t, []int{0, 1, 2, 3}, topo.Nodes[0].CPUs)
	for _, part := range []string{"thread_siblings_list cannot be read: it is not a plain file", "cpulist cannot be read: path escapes"} {
		require.True(t, slices.ContainsFunc(topo.Notes, func(n string) bool { return strings.Contains(n, part) }), "%q in %q", part, topo.Notes)
	}
}

func BenchmarkDiscoverThisMachine(b *testing.B) {
	for b.Loop() {
		if _, err := numa.Discover("/"); err != nil {
			b.Fatal(err)
		}
	}
}
