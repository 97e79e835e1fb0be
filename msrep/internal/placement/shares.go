package placement

import (
	"math"
	"slices"
	"strings"

	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/nvidia"
)

// measurer is a device that measures kernels.Info.Bandwidth.
type measurer interface{ MeasureBandwidth() error }

// measure measures the bandwidth of the memory of GPUs, unless they are all alike. A GPU that fails keeps 0.
func measure(gpus []nvidia.GPU, devices []kernels.Device) {
	alike := func(g nvidia.GPU) bool {
		return g.Name == gpus[0].Name && g.Memory == gpus[0].Memory && g.SMs == gpus[0].SMs
	}
	if !slices.ContainsFunc(gpus, func(g nvidia.GPU) bool { return !alike(g) }) {
		return
	}
	par.Do(len(devices), func(i int) {
		if m, ok := devices[i].(measurer); ok {
			_ = m.MeasureBandwidth() // then all parts are equal
		}
	})
}

// finest is the weight of the fastest device: bandwidths are compared to a 32nd of the highest, so that two
// measurements rarely give other parts.
const finest = 32

// Weights returns the weights by which a matrix is split among devices: in proportion to the bandwidth of their memory.
// It returns nil for equal parts: the bandwidths are equal, or one is unknown. Devices on one GPU share its bandwidth.
func Weights(devices []kernels.Device) []int {
	var rates []float64
	on := sharing(devices)
	for i, d := range devices {
		rates = append(rates, d.Info().Bandwidth/float64(on[i]))
	}
	if len(rates) < 2 || !(slices.Min(rates) > 0) {
		return nil
	}
	out := make([]int, len(rates))
	for i, r := range rates {
		out[i] = max(int(math.Round(finest*r/slices.Max(rates))), 1)
	}
	if slices.Min(out) == slices.Max(out) {
		return nil
	}
	return out
}

// sharing returns, for each device, the number of devices on its GPU. It is 1 for other devices.
func sharing(devices []kernels.Device) []int {
	count, out := map[string]int{}, make([]int, len(devices))
	for _, d := range devices {
		count[physical(d)]++
	}
	for i, d := range devices {
		out[i] = count[physical(d)]
	}
	return out
}

// physical returns the GPU of a device: cuda:1 for cuda:1.2 and cuda:1+2.
func physical(d kernels.Device) string {
	id := d.Info().ID
	if n := strings.IndexAny(id, ".+"); n >= 0 {
		id = id[:n]
	}
	return id
}

// boundedUnits is the sum of the weights that BoundWeights returns.
const boundedUnits = 1 << 16

// BoundWeights changes weights (nil for equal ones) so that each device has memory for its part of a matrix, and
// devices with more memory get what others lack. The matrix takes bytes in all, and each device needs also fixed bytes.
// If the devices together lack memory, or the memory of one is not bounded, the weights stay.
func BoundWeights(weights []int, devices []kernels.Device, bytes, fixed int64) []int {
	if len(devices) < 2 || bytes <= 0 {
		return weights
	}
	most := make([]float64, len(devices)) // of the matrix
	on := sharing(devices)
	for i, d := range devices {
		free, ok := freeMemory(d)
		if !ok {
			return weights
		}
		most[i] = max(usableFraction*float64(free)/float64(on[i])-float64(fixed), 0) / float64(bytes)
	}
	share, changed := boundShares(weights, most)
	if !changed {
		return weights
	}
	out, before, sum := make([]int, len(share)), 0, 0.0
	for i, s := range share {
		sum += s
		end := int(math.Round(sum * boundedUnits))
		out[i], before = end-before, end
	}
	return out
}

// usableFraction is the fraction of the free memory that parts and vectors may take.
const usableFraction = 0.9

// freeMemory returns the free memory of a device; bounded is false if parts are not stored there.
func freeMemory(d kernels.Device) (bytes int64, bounded bool) {
	f, ok := d.(interface{ FreeMemory() int64 })
	if !ok {
		return 0, false
	}
	return f.FreeMemory(), true
}

// boundShares returns shares in proportion to weights, none above most, that sum to 1. changed is false if the
// proportions suit, or if there are no such shares.
func boundShares(weights []int, most []float64) (share []float64, changed bool) {
	share = make([]float64, len(most))
	full := make([]bool, len(most))
	for {
		left, sum := 1.0, 0.0
		for i := range most {
			if full[i] {
				left -= most[i]
			} else {
				sum += weight(weights, i)
			}
		}
		if sum == 0 {
			return nil, false // all are full
		}
		again := false
		for i := range most {
			if share[i] = most[i]; full[i] {
				continue
			}
			if share[i] = left * weight(weights, i) / sum; share[i] > most[i] {
				full[i], again = true, true
			}
		}
		if !again {
			return share, changed
		}
		changed = true
	}
}

func weight(weights []int, i int) float64 {
	if weights == nil {
		return 1
	}
	return float64(weights[i])
}
