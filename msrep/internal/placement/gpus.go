package placement

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/nvidia"
	"github.com/msrep-go/msrep/numa"
	"github.com/msrep-go/msrep/sparse"
)

// maxGPUDevices is the largest number of devices in cuda:0,0,... Each device has a thread and pinned memory.
const maxGPUDevices = 64

// gpuChoice is the GPUs that a Devices string selects.
type gpuChoice struct {
	list    []nvidia.GPU
	named   bool     // listed one by one: each must open
	must    bool     // CPUs do not take their place
	leftOut []string // why other GPUs are not in the list
}

// gpusFor returns the GPUs that a Devices string selects: those of cuda, cuda:0,2 or cuda:0+0, or for auto all GPUs that
// there are. The list is empty if it selects none. A GPU that cannot be used is left out, unless it is named.
func gpusFor(devices string, query func() nvidia.Status) (c gpuChoice, err error) {
	kind, arg, hasArg := strings.Cut(devices, ":")
	c = gpuChoice{named: hasArg, must: kind == "cuda"}
	if !c.must && devices != "" && devices != "auto" {
		return c, nil
	}
	found := query()
	if found.Reason != "" && c.must {
		return c, sparse.Inputf("devices", "%q: %s", devices, found.Reason)
	}
	if !hasArg {
		for _, g := range found.Unusable {
			c.leftOut = append(c.leftOut, fmt.Sprintf("cuda:%d: %s", g.Ordinal, g.Why))
		}
		c.list = found.GPUs
		return c, nil
	}
	for part := range strings.SplitSeq(strings.ReplaceAll(arg, "+", ","), ",") {
		g, err := gpuNamed(part, found)
		if err != nil {
			return c, sparse.Inputf("devices", "%q: %v", devices, err)
		}
		c.list = append(c.list, g)
	}
	if len(c.list) > maxGPUDevices {
		return c, sparse.Inputf("devices", "%q: %d devices: use 1 to %d", devices, len(c.list), maxGPUDevices)
	}
	return c, nil
}

// gpuNamed returns the GPU with the number name.
func gpuNamed(name string, found nvidia.Status) (nvidia.GPU, error) {
	n, err := strconv.Atoi(name)
	if err == nil {
		if i := slices.IndexFunc(found.GPUs, func(g nvidia.GPU) bool { return g.Ordinal == n }); i >= 0 {
			return found.GPUs[i], nil
		}
		if i := slices.IndexFunc(found.Unusable, func(g nvidia.Unusable) bool { return g.Ordinal == n }); i >= 0 {
			return nvidia.GPU{}, fmt.Errorf("GPU %d: %s", n, found.Unusable[i].Why)
		}
	}
	return nvidia.GPU{}, fmt.Errorf("%q is not a GPU: they are 0 to %d", name, len(found.GPUs)+len(found.Unusable)-1)
}

// openGPUs opens a device for each configuration, at the same time. A GPU that refuses to open is left out, unless it
// is named. After an error, openGPUs returns the devices that are open.
func openGPUs(configs []nvidia.Config, named bool, open func(nvidia.Config) (kernels.Device, error)) (devices []kernels.Device, leftOut []string, err error) {
	all, errs := make([]kernels.Device, len(configs)), make([]error, len(configs))
	par.Do(len(configs), func(i int) { all[i], errs[i] = open(configs[i]) })
	for i, d := range all {
		if errs[i] == nil {
			devices = append(devices, d)
		} else if err == nil {
			err = errs[i]
		}
	}
	if err == nil || named || len(devices) == 0 {
		return devices, nil, err
	}
	for _, e := range errs {
		if e != nil {
			leftOut = append(leftOut, e.Error())
		}
	}
	return devices, leftOut, nil
}

// severalNodes reports whether the devices belong to nodes, and to more than one.
func severalNodes(devices []kernels.Device) bool {
	several := false
	for _, d := range devices {
		node := d.Info().NUMANode
		if node < 0 {
			return false
		}
		several = several || node != devices[0].Info().NUMANode
	}
	return several
}

// gpuConfigs returns the configuration of a device for each element of gpus. A GPU that is listed several times gets
// several devices. With placement, the thread and the pinned memory of a device are on the node of its GPU. If the nodes
// of all GPUs are known, the devices are sorted by node.
func gpuConfigs(topo *numa.Topology, gpus []nvidia.GPU, placement string) (out []nvidia.Config) {
	copies, near := map[int]int{}, topo.MemoryNodes()
	for _, g := range gpus {
		c := nvidia.Config{GPU: g.Ordinal, Copy: copies[g.Ordinal], Node: -1}
		copies[g.Ordinal]++
		if i := slices.IndexFunc(topo.GPUs, func(t numa.GPU) bool { return t.PCI == g.PCI }); i >= 0 && placement != Off {
			c.Node, c.CPUs = near[topo.GPUs[i].Node], topo.GPUs[i].CPUs
		}
		out = append(out, c)
	}
	if !slices.ContainsFunc(out, func(c nvidia.Config) bool { return c.Node < 0 }) {
		slices.SortStableFunc(out, func(a, b nvidia.Config) int { return a.Node - b.Node })
	}
	return out
}
