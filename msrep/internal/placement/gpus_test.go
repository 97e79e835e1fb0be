package placement

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/numatest"
	"github.com/msrep-go/msrep/kernels/nvidia"
	"github.com/msrep-go/msrep/numa"
	"github.com/msrep-go/msrep/sparse"
)

func gpus(n int) nvidia.Status {
	var s nvidia.Status
	for i := range n {
		s.GPUs = append(s.GPUs, nvidia.GPU{Ordinal: i})
	}
	return s
}

func TestTheSelectedGPUsAreOpened(t *testing.T) {
	three := func() nvidia.Status { return gpus(3) }
	none := func() nvidia.Status { return nvidia.Status{Reason: "no driver"} }
	for devices, want := range map[string][]int{
		"": {0, 1, 2}, "auto": {0, 1, 2}, "cuda": {0, 1, 2}, "cuda:2,0": {2, 0}, "cuda:0,0,0,0": {0, 0, 0, 0}, "cpu": nil, "cpu:2": nil, "sim:2": nil,
	} {
		list, some, err := gpusFor(devices, three)
		require.NoError(t, err, devices)
		require.Equal(t, want != nil, some, devices)
		var got []int
		for _, g := range list {
			got = append(got, g.Ordinal)
		}
		require.Equal(t, want, got, devices)
	}
	_, some, err := gpusFor("auto", none)
	require.NoError(t, err)
	require.False(t, some, "auto needs no GPU")
	for devices, message := range map[string]string{"cuda:3": `"3" is not a GPU: they are 0 to 2`, "cuda:": `"" is not`, "cuda:0,": `"" is not`, "cuda:x": "0 to 2", "cuda:-1": "0 to 2"} {
		_, _, err := gpusFor(devices, three)
		require.ErrorContains(t, err, message)
		require.True(t, sparse.IsInput(err))
	}
	_, _, err = gpusFor("cuda", none)
	require.EqualError(t, err, `devices: "cuda": no driver`)
}

func TestDevicesOnGPUsArePlacedOnTheirNodes(t *testing.T) {
	topo, err := numa.Discover(numatest.Tree(t, "dgx1"))
	require.NoError(t, err)
	var list []nvidia.GPU
	var cpus [][]int
	for _, g := range topo.GPUs {
		if g.NVIDIA {
			list, cpus = append(list, nvidia.GPU{Ordinal: len(list), PCI: g.PCI}), append(cpus, g.CPUs)
		}
	}
	require.Len(t, list, 8)
	configs, nodes := gpuConfigs(topo, list, Auto)
	require.True(t, nodes)
	for i, c := range configs {
		require.Equal(t, nvidia.Config{GPU: i, Node: i / 4, CPUs: cpus[i]}, c)
	}
	configs, nodes = gpuConfigs(topo, []nvidia.GPU{list[5], list[1], list[5]}, Auto)
	require.True(t, nodes, "sorted by node")
	require.Equal(t, []int{1, 5, 5}, []int{configs[0].GPU, configs[1].GPU, configs[2].GPU})
	require.Equal(t, []int{0, 0, 1}, []int{configs[0].Copy, configs[1].Copy, configs[2].Copy})
	_, nodes = gpuConfigs(topo, list[:4], Auto)
	require.False(t, nodes, "all on one node")
	configs, nodes = gpuConfigs(topo, list, Off)
	require.False(t, nodes)
	require.Equal(t, nvidia.Config{GPU: 7, Copy: 0, Node: -1}, configs[7])
	configs, _ = gpuConfigs(topo, []nvidia.GPU{{PCI: "0000:ff:00.0"}}, Auto)
	require.Equal(t, -1, configs[0].Node, "not in the tree")
}
