package placement

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/numa"
)

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
		numa    string
		devices string
		topo    *numa.Topology
		placed  bool
		note    string
	}{
		{Auto, "auto", two, true, ""},
		{"", "cpu:2", two, true, ""},
		{"", "cpu:1", two, false, ""},
		{"", "auto", twoNodesOf(4, 0), false, ""},
		{"", "auto", &numa.Topology{}, false, ""},
		{Off, "cpu:4", two, false, ""},
		{On, "cpu:1", two, false, "1 devices for 2 nodes"},
		{On, "cpu:2", twoNodesOf(4, 0), true, "only node 0 has CPUs"},
		{On, "auto", &numa.Topology{}, false, "for 0 nodes"},
	} {
		places, placed, note, err := Request{Devices: c.devices, NUMA: c.numa, Threads: 7}.CPUs(c.topo)
		require.NoError(t, err)
		require.Equal(t, c.placed, placed, "%+v", c)
		require.Contains(t, note, c.note)
		require.Equal(t, c.note == "", note == "", "%+v: %s", c, note)
		threads := 0
		for _, p := range places {
			require.Equal(t, placed, len(p.CPUs) > 0)
			threads += p.Threads
		}
		require.Equal(t, 7, threads, "%+v", c)
	}
}

func TestDevicesOfANodeWithoutMemoryBelongToTheNearestNodeWithMemory(t *testing.T) {
	far := func(nearest int) []int { d := []int{30, 30, 30}; d[nearest] = 20; return d }
	topo := &numa.Topology{Nodes: []numa.Node{
		{ID: 0, CPUs: []int{0, 1}, Distance: far(2)}, {ID: 1, CPUs: []int{2, 3}, MemBytes: 10}, {ID: 2, CPUs: []int{4, 5}, MemBytes: 20},
	}}
	var got []string
	for _, p := range placedDevices(topo, topo.CoreGroups(), 3, 6) {
		got = append(got, fmt.Sprint(p.Node, p.CPUs, p.Threads, p.Memory))
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
