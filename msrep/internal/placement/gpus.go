package placement

import (
	"slices"
	"strconv"
	"strings"

	"github.com/msrep-go/msrep/kernels/nvidia"
	"github.com/msrep-go/msrep/numa"
	"github.com/msrep-go/msrep/sparse"
)

// maxGPUDevices is the largest number of devices in cuda:0,0,... Each device has a thread and pinned memory.
const maxGPUDevices = 64

// gpusFor returns the GPUs that a Devices string selects: those of cuda or cuda:0,2, or for auto all GPUs that there
// are. ok is false if it selects none.
func gpusFor(devices string, query func() nvidia.Status) (list []nvidia.GPU, ok bool, err error) {
	kind, arg, hasArg := strings.Cut(devices, ":")
	switch {
	case kind == "cuda":
	case devices == "" || devices == "auto":
		found := query()
		return found.GPUs, found.Reason == "", nil
	default:
		return nil, false, nil
	}
	found := query()
	if found.Reason != "" {
		return nil, false, sparse.Inputf("devices", "%q: %s", devices, found.Reason)
	}
	if !hasArg {
		return found.GPUs, true, nil
	}
	for part := range strings.SplitSeq(arg, ",") {
		i, err := strconv.Atoi(part)
		if err != nil || i < 0 || i >= len(found.GPUs) {
			return nil, false, sparse.Inputf("devices", "%q: %q is not a GPU: they are 0 to %d", devices, part, len(found.GPUs)-1)
		}
		list = append(list, found.GPUs[i])
	}
	if len(list) > maxGPUDevices {
		return nil, false, sparse.Inputf("devices", "%q: %d devices: use 1 to %d", devices, len(list), maxGPUDevices)
	}
	return list, true, nil
}

// gpuConfigs returns the configuration of a device for each element of gpus. A GPU that is listed several times gets
// several devices. With placement, the thread and the pinned memory of a device are on the node of its GPU. nodes
// reports that the GPUs are on several nodes: the devices are then sorted by node, and matrices are split in two
// levels.
func gpuConfigs(topo *numa.Topology, gpus []nvidia.GPU, placement string) (out []nvidia.Config, nodes bool) {
	copies, near := map[int]int{}, topo.MemoryNodes()
	for _, g := range gpus {
		c := nvidia.Config{GPU: g.Ordinal, Copy: copies[g.Ordinal], Node: -1}
		copies[g.Ordinal]++
		if i := slices.IndexFunc(topo.GPUs, func(t numa.GPU) bool { return t.PCI == g.PCI }); i >= 0 && placement != Off {
			c.Node, c.CPUs = near[topo.GPUs[i].Node], topo.GPUs[i].CPUs
		}
		out = append(out, c)
	}
	for _, c := range out {
		if c.Node < 0 {
			return out, false // the node of this GPU is unknown
		}
		nodes = nodes || c.Node != out[0].Node
	}
	if nodes {
		slices.SortStableFunc(out, func(a, b nvidia.Config) int { return a.Node - b.Node })
	}
	return out, nodes
}
