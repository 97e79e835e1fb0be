package numa

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

// liveMachine is the scan of a machine with 2 nodes of 4 CPUs and one GPU on node 1,
// whose node the firmware does not report.
func liveMachine(allowed ...int) *scan {
	file := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }
	return &scan{root: "/", live: true, numCPU: 3, allowed: allowed, fsys: fstest.MapFS{
		cpuDir + "/online":                             file("0-7\n"),
		nodeDir + "/node0/cpulist":                     file("0-3\n"),
		nodeDir + "/node1/cpulist":                     file("4-7\n"),
		pciDir + "/0000:01:00.0/class":                 file("0x030200\n"),
		pciDir + "/0000:01:00.0/numa_node":             file("-1\n"),
		pciDir + "/0000:01:00.0/local_cpulist":         file("4-7\n"),
		cpuDir + "/cpu0/topology/thread_siblings_list": file("0,1\n"),
	}}
}

func TestOnlyAllowedCPUsAreGiven(t *testing.T) {
	topo, err := liveMachine(1, 2, 900).topology()
	require.NoError(t, err)
	require.Equal(t, []int{1, 2}, topo.Nodes[0].CPUs)
	require.Empty(t, topo.Nodes[1].CPUs)
	require.Equal(t, []CoreGroup{{Node: 0, CPUs: []int{1, 2}, Cores: 2}}, topo.CoreGroups())
	require.Equal(t, 1, topo.GPUs[0].Node, "the node of a GPU does not depend on the cpuset")
	require.Empty(t, topo.GPUs[0].CPUs)
	require.Contains(t, topo.Notes[0], "CPUs 1-2 of 0-7 only")
}

func TestAllAllowedCPUsNeedNoNote(t *testing.T) {
	topo, err := liveMachine(0, 1, 2, 3, 4, 5, 6, 7).topology()
	require.NoError(t, err)
	require.Len(t, topo.Notes, 1) // the GPU's
	require.Contains(t, topo.Notes[0], "node 1 of its local CPUs")
}

func TestAllowedCPUsThatSysDoesNotKnowAreTaken(t *testing.T) {
	topo, err := liveMachine(20, 21).topology()
	require.NoError(t, err)
	require.Equal(t, []int{20, 21}, topo.Nodes[0].CPUs)
	require.Contains(t, topo.Notes[0], "none of the online CPUs 0-7 is allowed")
}

func TestWithoutSysThereIsOneNode(t *testing.T) {
	for _, c := range []struct {
		allowed, want []int
		note          string
	}{
		{nil, []int{0, 1, 2}, "that the Go runtime counts"},
		{[]int{5, 9}, []int{5, 9}, "that this process may run on"},
	} {
		s := &scan{root: "/", live: true, numCPU: 3, allowed: c.allowed, fsys: fstest.MapFS{}}
		topo, err := s.topology()
		require.NoError(t, err)
		require.Len(t, topo.Nodes, 1)
		require.Equal(t, c.want, topo.Nodes[0].CPUs)
		require.Len(t, topo.Nodes[0].Cores, len(c.want))
		require.Empty(t, topo.GPUs)
		require.Contains(t, topo.Notes[0], c.note)
	}
}
