package placement

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/numatest"
	"github.com/msrep-go/msrep/kernels"
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
		"": {0, 1, 2}, "auto": {0, 1, 2}, "cuda": {0, 1, 2}, "cuda:2,0": {2, 0}, "cuda:0,0,0,0": {0, 0, 0, 0}, "cuda:1+1+0": {1, 1, 0}, "cpu": nil, "cpu:2": nil, "sim:2": nil,
	} {
		c, err := gpusFor(devices, three)
		require.NoError(t, err, devices)
		require.Equal(t, strings.Contains(devices, ":") && want != nil, c.named && want != nil, devices)
		var got []int
		for _, g := range c.list {
			got = append(got, g.Ordinal)
		}
		require.Equal(t, want, got, devices)
	}
	c, err := gpusFor("auto", none)
	require.NoError(t, err)
	require.Empty(t, c.list, "auto needs no GPU")
	for devices, message := range map[string]string{"cuda:3": `"3" is not a GPU: they are 0 to 2`, "cuda:": `"" is not`, "cuda:0,": `"" is not`, "cuda:0+": `"" is not`, "cuda:x": "0 to 2", "cuda:-1": "0 to 2"} {
		_, err := gpusFor(devices, three)
		require.ErrorContains(t, err, message)
		require.True(t, sparse.IsInput(err))
	}
	_, err = gpusFor("cuda", none)
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
	configs := gpuConfigs(topo, list, Auto)
	for i, c := range configs {
		require.Equal(t, nvidia.Config{GPU: i, Node: i / 4, CPUs: cpus[i]}, c)
	}
	configs = gpuConfigs(topo, []nvidia.GPU{list[5], list[1], list[5]}, Auto)
	require.Equal(t, []int{1, 5, 5}, []int{configs[0].GPU, configs[1].GPU, configs[2].GPU}, "sorted by node")
	require.Equal(t, []int{0, 0, 1}, []int{configs[0].Copy, configs[1].Copy, configs[2].Copy})
	configs = gpuConfigs(topo, list, Off)
	require.Equal(t, nvidia.Config{GPU: 7, Copy: 0, Node: -1}, configs[7])
	configs = gpuConfigs(topo, []nvidia.GPU{{PCI: "0000:ff:00.0"}}, Auto)
	require.Equal(t, -1, configs[0].Node, "not in the tree")
}

func TestGPUsThatCannotBeUsedAreLeftOutUnlessTheyAreNamed(t *testing.T) {
	found := func() nvidia.Status {
		return nvidia.Status{GPUs: []nvidia.GPU{{Ordinal: 0}, {Ordinal: 2}}, Unusable: []nvidia.Unusable{{Ordinal: 1, Why: "too old"}}}
	}
	for _, devices := range []string{"auto", "cuda"} {
		c, err := gpusFor(devices, found)
		require.NoError(t, err)
		require.Equal(t, []nvidia.GPU{{Ordinal: 0}, {Ordinal: 2}}, c.list)
		require.Equal(t, []string{"cuda:1: too old"}, c.leftOut)
	}
	c, err := gpusFor("cuda:2,0", found)
	require.NoError(t, err)
	require.Equal(t, []nvidia.GPU{{Ordinal: 2}, {Ordinal: 0}}, c.list)
	require.Empty(t, c.leftOut)
	_, err = gpusFor("cuda:0,1", found)
	require.EqualError(t, err, `devices: "cuda:0,1": GPU 1: too old`)
	require.True(t, sparse.IsInput(err))
	_, err = gpusFor("cuda:3", found)
	require.ErrorContains(t, err, `"3" is not a GPU: they are 0 to 2`)
}

// device is a device that is only described.
type device struct {
	kernels.Device
	info kernels.Info
}

func (d device) Info() kernels.Info { return d.info }

func TestGPUsThatRefuseToOpenAreLeftOutUnlessTheyAreNamed(t *testing.T) {
	configs := []nvidia.Config{{GPU: 0, Node: 0}, {GPU: 1, Node: 1}, {GPU: 2, Node: 1}}
	all := errors.New("all refuse")
	for _, c := range []struct {
		refuse  map[int]error
		named   bool
		opened  int
		leftOut []string
		err     string
		nodes   bool
	}{
		{nil, false, 3, nil, "", true},
		{map[int]error{1: errors.New("GPU 1 is busy")}, false, 2, []string{"GPU 1 is busy"}, "", true},
		{map[int]error{0: errors.New("GPU 0 is busy")}, false, 2, []string{"GPU 0 is busy"}, "", false},
		{map[int]error{1: errors.New("GPU 1 is busy")}, true, 2, nil, "GPU 1 is busy", true},
		{map[int]error{0: all, 1: all, 2: all}, false, 0, nil, "all refuse", false},
	} {
		devices, leftOut, err := openGPUs(configs, c.named, func(g nvidia.Config) (kernels.Device, error) {
			return device{info: kernels.Info{NUMANode: g.Node}}, c.refuse[g.GPU]
		})
		require.Len(t, devices, c.opened)
		require.Equal(t, c.leftOut, leftOut)
		if c.err == "" {
			require.NoError(t, err)
		} else {
			require.EqualError(t, err, c.err)
		}
		require.Equal(t, c.nodes, severalNodes(devices))
	}
}
