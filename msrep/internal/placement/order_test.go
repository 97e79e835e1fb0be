package placement

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/numatest"
	"github.com/msrep-go/msrep/kernels/nvidia"
	"github.com/msrep-go/msrep/numa"
)

// The NVLinks between the GPUs of a DGX-1 with V100.
var dgx1v = [8][8]int{
	{0, 1, 1, 2, 2, 0, 0, 0}, {1, 0, 2, 1, 0, 2, 0, 0}, {1, 2, 0, 2, 0, 0, 1, 0}, {2, 1, 2, 0, 0, 0, 0, 1},
	{2, 0, 0, 0, 0, 1, 1, 2}, {0, 2, 0, 0, 1, 0, 2, 1}, {0, 0, 1, 0, 1, 2, 0, 2}, {0, 0, 0, 1, 2, 1, 2, 0},
}

func ordinals(configs []nvidia.Config) (out []int) {
	for _, c := range configs {
		out = append(out, c.GPU)
	}
	return out
}

func configs(nodes ...int) (out []nvidia.Config) {
	for i, n := range nodes {
		out = append(out, nvidia.Config{GPU: i, Node: n})
	}
	return out
}

type links = func(from, to int) (nvidia.LinkKind, int)

func TestNeighboursInTheOrderOfGPUsHaveFastLinks(t *testing.T) {
	byCount := func(rank func(links int) int) links {
		return func(a, b int) (nvidia.LinkKind, int) {
			if n := dgx1v[a][b]; n > 0 {
				return nvidia.LinkNVLink, rank(n)
			}
			return nvidia.LinkNone, 0
		}
	}
	same := byCount(func(int) int { return 0 })
	ranked := byCount(func(n int) int { return 2 - n })
	uniform := func(a, b int) (nvidia.LinkKind, int) { return nvidia.LinkNVLink, 0 }
	pcie := func(a, b int) (nvidia.LinkKind, int) { return nvidia.LinkPCIe, 1 }
	summit := func(a, b int) (nvidia.LinkKind, int) {
		if a/3 == b/3 {
			return nvidia.LinkNVLink, 0
		}
		return nvidia.LinkNone, 0
	}
	pairs := func(a, b int) (nvidia.LinkKind, int) { // NVLink bridges join 0 and 2, 1 and 3
		if a%2 == b%2 {
			return nvidia.LinkNVLink, 0
		}
		return nvidia.LinkPCIe, 1
	}
	oneWay := func(a, b int) (nvidia.LinkKind, int) { // 0 does not read 1
		if a == 1 && b == 0 {
			return nvidia.LinkNone, 0
		}
		return nvidia.LinkNVLink, 0
	}
	for name, c := range map[string]struct {
		links links
		gpus  []nvidia.Config
		want  []int
	}{
		"DGX-1V":                       {same, configs(0, 0, 0, 0, 1, 1, 1, 1), []int{0, 1, 2, 3, 7, 6, 5, 4}},
		"DGX-1V without nodes":         {same, configs(-1, -1, -1, -1, -1, -1, -1, -1), []int{0, 1, 2, 3, 7, 6, 5, 4}},
		"DGX-1V, two links rank first": {ranked, configs(0, 0, 0, 0, 1, 1, 1, 1), []int{0, 3, 2, 1, 5, 6, 7, 4}},
		"Summit":                       {summit, configs(0, 0, 0, 8, 8, 8), []int{0, 1, 2, 3, 4, 5}},
		"NVSwitch":                     {uniform, configs(0, 0, 0, 0, 1, 1, 1, 1), []int{0, 1, 2, 3, 4, 5, 6, 7}},
		"16 on NVSwitch":               {uniform, configs(make([]int, 16)...), []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}},
		"PCIe":                         {pcie, configs(0, 0, 0, 0), []int{0, 1, 2, 3}},
		"bridges":                      {pairs, configs(0, 0, 0, 0), []int{0, 2, 1, 3}},
		"bridges across nodes":         {pairs, configs(0, 0, 1, 1), []int{0, 1, 3, 2}},
		"one direction":                {oneWay, configs(0, 0, 0), []int{0, 2, 1}},
		"two":                          {same, configs(0, 0), []int{0, 1}},
		"none":                         {same, nil, nil},
	} {
		orderByLinks(c.gpus, c.links)
		require.Equal(t, c.want, ordinals(c.gpus), name)
	}
}

// The order is the best of all, with any links and nodes.
func TestNoOrderOfGPUsIsBetter(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		n := 3 + r.IntN(4)
		gpus := configs(make([]int, n)...)
		for i := range gpus {
			if i > 0 {
				gpus[i].Node = gpus[i-1].Node + r.IntN(2)
			}
		}
		kinds := []nvidia.LinkKind{nvidia.LinkNVLink, nvidia.LinkPCIe, nvidia.LinkNone}
		found := map[[2]int]nvidia.LinkKind{}
		ranks := map[[2]int]int{}
		for i := range n {
			for j := range n {
				found[[2]int{i, j}], ranks[[2]int{i, j}] = kinds[r.IntN(3)], r.IntN(3)
			}
		}
		between := func(a, b int) (nvidia.LinkKind, int) { return found[[2]int{a, b}], ranks[[2]int{a, b}] }
		total := func(order []nvidia.Config) (sum int64) {
			for i := range n - 1 {
				a, b := order[i].GPU, order[i+1].GPU
				sum += max(linkCost(between(a, b)), linkCost(between(b, a))) + int64(max(a-b, b-a))
			}
			return sum
		}
		var least int64 = -1
		permutations(gpus, func(order []nvidia.Config) {
			for i := range n - 1 {
				if order[i].Node > order[i+1].Node {
					return
				}
			}
			if c := total(order); least < 0 || c < least {
				least = c
			}
		})
		orderByLinks(gpus, between)
		require.Equal(t, least, total(gpus), fmt.Sprint(gpus))
		for i := range n - 1 {
			require.LessOrEqual(t, gpus[i].Node, gpus[i+1].Node)
		}
	}
}

func permutations(a []nvidia.Config, f func([]nvidia.Config)) {
	var visit func(k int)
	order := append([]nvidia.Config(nil), a...)
	visit = func(k int) {
		if k == len(order) {
			f(order)
			return
		}
		for i := k; i < len(order); i++ {
			order[k], order[i] = order[i], order[k]
			visit(k + 1)
			order[k], order[i] = order[i], order[k]
		}
	}
	visit(0)
}

func TestTheOrderKeepsThePlacementOfEachGPU(t *testing.T) {
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
	gpus := gpuConfigs(topo, list, Auto)
	orderByLinks(gpus, func(a, b int) (nvidia.LinkKind, int) {
		if dgx1v[a][b] > 0 {
			return nvidia.LinkNVLink, 0
		}
		return nvidia.LinkNone, 0
	})
	require.Equal(t, []int{0, 1, 2, 3, 7, 6, 5, 4}, ordinals(gpus))
	for _, c := range gpus {
		require.Equal(t, c.GPU/4, c.Node)
		require.Equal(t, cpus[c.GPU], c.CPUs)
	}
}

func TestAPlusGivesEachDeviceItsOwnContext(t *testing.T) {
	for devices, want := range map[string]bool{"": false, "auto": false, "cuda": false, "cuda:0,0": false, "cuda:0+0": true} {
		require.Equal(t, want, ownContexts(devices), devices)
	}
}
