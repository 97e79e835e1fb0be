package placement

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/nvidia"
	"github.com/msrep-go/msrep/numa"
)

// gpu is a device with memory of its own.
type gpu struct {
	device
	free     int64
	measured *int
}

func (g gpu) FreeMemory() int64 { return g.free }

func (g gpu) MeasureBandwidth() error {
	*g.measured++
	return nil
}

// withBandwidths returns a device for each bandwidth, on GPUs of their own.
func withBandwidths(rates ...float64) (out []kernels.Device) {
	for i, r := range rates {
		out = append(out, device{info: kernels.Info{ID: fmt.Sprintf("cuda:%d", i), Kind: "cuda", Bandwidth: r}})
	}
	return out
}

func TestWeightsFollowTheBandwidthOfDevices(t *testing.T) {
	for _, c := range []struct {
		rates []float64
		want  []int
	}{
		{nil, nil},
		{[]float64{3e12}, nil},
		{[]float64{0, 0}, nil},
		{[]float64{3e12, 0, 1e12}, nil}, // one is unknown
		{[]float64{3e12, 1e12}, []int{32, 11}},
		{[]float64{1e12, 3e12, 1.5e12}, []int{11, 32, 16}},
		{[]float64{3e12, 2.97e12}, nil}, // noise
		{[]float64{3e12, 1e9}, []int{32, 1}},
	} {
		require.Equal(t, c.want, Weights(withBandwidths(c.rates...)), "%v", c.rates)
	}
	shared := withBandwidths(3e12, 3e12, 1e12)
	shared[1] = device{info: kernels.Info{ID: "cuda:0.1", Kind: "cuda", Bandwidth: 3e12}}
	require.Equal(t, []int{32, 32, 21}, Weights(shared), "two devices share a GPU")
}

func TestBandwidthIsMeasuredOnlyIfGPUsDiffer(t *testing.T) {
	for _, c := range []struct {
		gpus []nvidia.GPU
		want int
	}{
		{[]nvidia.GPU{{Name: "a", Memory: 8, SMs: 4}, {Ordinal: 1, Name: "a", Memory: 8, SMs: 4, PCI: "b"}}, 0},
		{[]nvidia.GPU{{Name: "a", Memory: 8, SMs: 4}, {Name: "b", Memory: 8, SMs: 4}}, 2},
		{[]nvidia.GPU{{Name: "a", Memory: 8, SMs: 4}, {Name: "a", Memory: 4, SMs: 4}}, 2}, // slices of a GPU, too
		{[]nvidia.GPU{{Name: "a", Memory: 8, SMs: 4}, {Name: "a", Memory: 8, SMs: 2}}, 2},
	} {
		counts := make([]int, 2)
		measure(c.gpus, []kernels.Device{gpu{measured: &counts[0]}, gpu{measured: &counts[1]}})
		require.Equal(t, c.want, counts[0]+counts[1])
	}
}

func TestWeightsAreBoundedByMemory(t *testing.T) {
	on := func(free ...int64) (out []kernels.Device) {
		for i, f := range free {
			out = append(out, gpu{device: device{info: kernels.Info{ID: fmt.Sprintf("cuda:%d", i)}}, free: f})
		}
		return out
	}
	for name, c := range map[string]struct {
		weights []int
		free    []int64
		want    []float64 // nil: the weights stay
	}{
		"enough":                        {nil, []int64{1000, 1000}, nil},
		"one has a third":               {nil, []int64{900, 300, 900}, []float64{0.4, 0.2, 0.4}}, // 270-70 of 1000
		"a slow one with enough memory": {[]int{32, 11}, []int64{1000, 500}, nil},
		"a fast one with little":        {[]int{32, 11}, []int64{300, 1000}, []float64{0.2, 0.8}},
		"one after the other":           {[]int{3, 2, 1}, []int64{300, 300, 2000}, []float64{0.2, 0.2, 0.6}},
		"none for one":                  {nil, []int64{20, 2000}, []float64{0, 1}},
		"too little together":           {[]int{3, 1}, []int64{300, 300}, nil},
	} {
		got := BoundWeights(c.weights, on(c.free...), 1000, 70)
		if c.want == nil {
			require.Equal(t, c.weights, got, name)
			continue
		}
		for i, w := range c.want {
			require.InDelta(t, w, float64(got[i])/boundedUnits, 1e-4, "%s: %v", name, got)
		}
	}
	require.Nil(t, BoundWeights(nil, append(on(1000, 1), device{}), 1000, 0), "unbounded")
	two := on(500, 500, 2000)
	two[1] = gpu{device: device{info: kernels.Info{ID: "cuda:0.1"}}, free: 500}
	got := BoundWeights(nil, two, 1000, 0)
	require.InDelta(t, 0.225, float64(got[0])/boundedUnits, 1e-4, "two devices share the memory of a GPU")
}

func TestBoundedSharesFitAndSumToOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 9).Draw(t, "devices")
		weights := rapid.SliceOfN(rapid.IntRange(1, 40), n, n).Draw(t, "weights")
		most := rapid.SliceOfN(rapid.Float64Range(0, 0.6), n, n).Draw(t, "most")
		sum := 0.0
		for _, m := range most {
			sum += m
		}
		share, changed := boundShares(weights, most)
		require.Equal(t, sum < 1, share == nil, "%v", most)
		if share == nil {
			require.False(t, changed)
			return
		}
		total, bounded := 0.0, false
		for i, s := range share {
			require.LessOrEqual(t, s, most[i])
			total, bounded = total+s, bounded || s == most[i]
			for j := range share[:i] { // those with memory left keep their proportion
				if s < most[i] && share[j] < most[j] {
					require.InDelta(t, s*float64(weights[j]), share[j]*float64(weights[i]), 1e-9)
				}
			}
		}
		require.InDelta(t, 1, total, 1e-9)
		require.True(t, bounded || !changed)
	})
}

func TestPlacementIsKeptIfThePartOfEachGPUFits(t *testing.T) {
	const memory = 1000
	on := func(nodes ...int) (out []kernels.Device) {
		for i, n := range nodes {
			out = append(out, device{info: kernels.Info{ID: fmt.Sprintf("cuda:%d", i), Kind: "cuda", NUMANode: n, Memory: memory}})
		}
		return out
	}
	two := Place(&numa.Topology{}, on(0, 0, 1, 1))
	require.Empty(t, two.Lacks(4*memory*29/100), "29 % of the memory of each")
	require.Empty(t, two.Lacks(4*memory*50/100))
	require.Contains(t, two.Lacks(4*memory*51/100), "1020 of the 2000 bytes of node 0")
	shared := on(0, 0, 1, 1)
	shared[1] = device{info: kernels.Info{ID: "cuda:0.1", Kind: "cuda", Memory: memory}}
	require.Contains(t, Place(&numa.Topology{}, shared).Lacks(4*memory*29/100), "580 of the 1000 bytes of node 0", "one GPU")
	uneven := on(0, 1, 1)
	for i := range uneven {
		d := uneven[i].(device)
		d.info.Bandwidth = []float64{32, 8, 8}[i]
		uneven[i] = d
	}
	n := Place(&numa.Topology{}, uneven)
	require.Equal(t, []int{32, 16}, n.NodeWeights(Weights(uneven)))
	require.Equal(t, []int{1, 2}, n.NodeWeights(nil))
	require.Empty(t, n.Lacks(750))
	require.Contains(t, n.Lacks(780), "520 of the 1000 bytes of node 0")
	cpus := []kernels.Device{device{info: kernels.Info{ID: "cpu:0", Kind: "cpu", Memory: memory}}, device{info: kernels.Info{ID: "cpu:1", Kind: "cpu", Memory: memory}}}
	require.Contains(t, Place(&numa.Topology{}, cpus).Lacks(600), "600 of the 1000 bytes of node 0", "CPU devices share the memory")
}
