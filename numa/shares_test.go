package numa_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/numa"
)

func nodes(ids ...int) *numa.Topology {
	t := &numa.Topology{}
	for _, id := range ids {
		t.Nodes = append(t.Nodes, numa.Node{ID: id})
	}
	return t
}

func TestSharesAreGroupedByNodeInProportionToItsDevices(t *testing.T) {
	// Devices 0 and 2 on node 8, device 1 on node 0, none on node 3, device 3 on a node
	// that does not exist.
	shares := nodes(0, 3, 8).DeviceShares([]numa.DevicePlace{{"a", 8, 0}, {"b", 0, 0}, {"c", 8, 0}, {"d", 77, 0}})
	require.Equal(t, []numa.DeviceShare{
		{Device: 1, Node: 0, First: 0, Num: 1, Den: 4, NodeFirst: 0, NodeNum: 2},
		{Device: 3, Node: 0, First: 1, Num: 1, Den: 4, NodeFirst: 0, NodeNum: 2},
		{Device: 0, Node: 8, First: 2, Num: 1, Den: 4, NodeFirst: 2, NodeNum: 2},
		{Device: 2, Node: 8, First: 3, Num: 1, Den: 4, NodeFirst: 2, NodeNum: 2},
	}, shares)
}

func TestSharesFollowTheWeightsOfDevices(t *testing.T) {
	shares := nodes(0, 8).DeviceShares([]numa.DevicePlace{{"a", 8, 32}, {"b", 0, 11}, {"c", 8, 0}})
	require.Equal(t, []numa.DeviceShare{
		{Device: 1, Node: 0, First: 0, Num: 11, Den: 44, NodeFirst: 0, NodeNum: 11},
		{Device: 0, Node: 8, First: 11, Num: 32, Den: 44, NodeFirst: 11, NodeNum: 33},
		{Device: 2, Node: 8, First: 43, Num: 1, Den: 44, NodeFirst: 11, NodeNum: 33},
	}, shares)
}

func TestSharesOfNothingAreNone(t *testing.T) {
	require.Empty(t, nodes(0).DeviceShares(nil))
	require.Len(t, nodes().DeviceShares(make([]numa.DevicePlace, 3)), 3)
}

func TestSharesCoverTheWholeOnceAndNodesAreIntervals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ids := rapid.SliceOfNDistinct(rapid.IntRange(0, 300), 1, 9, rapid.ID).Draw(t, "nodes")
		topo := nodes(ids...)
		var devices []numa.DevicePlace
		for _, id := range rapid.SliceOfN(rapid.SampledFrom(ids), 0, 20).Draw(t, "devices") {
			devices = append(devices, numa.DevicePlace{Node: id})
		}
		seen, end, perNode := map[int]bool{}, 0, map[int]int{}
		for _, d := range devices {
			perNode[d.Node]++
		}
		for _, s := range topo.DeviceShares(devices) {
			require.False(t, seen[s.Device])
			seen[s.Device] = true
			require.Equal(t, devices[s.Device].Node, s.Node)
			require.Equal(t, end, s.First)
			end += s.Num
			require.Equal(t, len(devices), s.Den)
			require.Equal(t, perNode[s.Node], s.NodeNum)
			require.GreaterOrEqual(t, s.First, s.NodeFirst)
			require.LessOrEqual(t, end, s.NodeFirst+s.NodeNum)
		}
		require.Len(t, seen, len(devices))
		require.Equal(t, len(devices), end)
	})
}
