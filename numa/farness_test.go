package numa_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/numa"
)

func TestFarnessIsTheMeanDistanceOfOtherNodes(t *testing.T) {
	topo := &numa.Topology{Nodes: []numa.Node{
		{ID: 0, Distance: []int{10, 16, 32}},
		{ID: 1, Distance: []int{16, 10, 32}},
		{ID: 8, Distance: []int{32, 32, 10}},
	}}
	require.Equal(t, 1.6, topo.Farness([]int{0, 1}))
	require.InDelta(t, 8./3, topo.Farness([]int{0, 1, 8}), 1e-15)
	for _, nodes := range [][]int{nil, {0}, {0, 0}, {0, 3}} {
		require.Equal(t, 2., topo.Farness(nodes), "%v", nodes)
	}
	topo.Nodes[2].Distance = nil
	require.Equal(t, 2., topo.Farness([]int{0, 8}), "not known")
	require.Equal(t, 1.6, topo.Farness([]int{0, 1}))
}

func TestANodeWithoutMemoryUsesThatOfTheNearest(t *testing.T) {
	topo := &numa.Topology{Nodes: []numa.Node{
		{ID: 0, MemBytes: 1, Distance: []int{10, 16, 32, 20}},
		{ID: 1, Distance: []int{32, 10, 16, 20}},
		{ID: 8, MemBytes: 1, Distance: []int{32, 16, 10, 20}},
		{ID: 9, Distance: []int{20, 20, 20, 10}},
	}}
	require.Equal(t, map[int]int{0: 0, 1: 8, 8: 8, 9: 0}, topo.MemoryNodes(), "9 takes the one with fewer users")
	topo.Nodes[1].Distance, topo.Nodes[3].Distance = []int{16, 10, 32, 20}, []int{20, 20, 32, 10}
	require.Equal(t, map[int]int{0: 0, 1: 0, 8: 8, 9: 0}, topo.MemoryNodes(), "9 takes the nearer one, whatever its users")
	topo.Nodes[1].Distance = nil
	require.Equal(t, map[int]int{0: 0, 1: 1, 8: 8, 9: 0}, topo.MemoryNodes(), "nobody knows")
	require.Empty(t, (&numa.Topology{}).MemoryNodes())
}
