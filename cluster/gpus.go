package cluster

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/msrep-go/msrep/kernels/nvidia"
	"github.com/msrep-go/msrep/numa"
)

// place is where a rank runs, as all ranks are told.
type place struct {
	Host string
	CPUs string // that it may use, by usableCPUs
	GPUs []near // that it sees
}

// near is a GPU, and whether the rank may use CPUs of its node.
type near struct {
	PCI  string
	Here bool
}

// visibleGPUs is the GPUs that devices ("auto" or "cuda") asks for: all. It is empty
// for other devices, which say themselves which ones.
func visibleGPUs(devices string) (gpus []near) {
	if devices != "" && devices != "auto" && devices != "cuda" {
		return nil
	}
	topo, err := numa.Discover("/")
	if err != nil {
		topo = &numa.Topology{}
	}
	for _, g := range nvidia.Query().GPUs {
		i := slices.IndexFunc(topo.GPUs, func(t numa.GPU) bool { return t.PCI == g.PCI })
		gpus = append(gpus, near{g.PCI, i >= 0 && len(topo.GPUs[i].CPUs) > 0})
	}
	return gpus
}

// shareOfGPUs is the GPUs, counted as rank r sees them, that it is to use: ranks on one
// host that see the same GPUs share these out. Each takes from those that hang on its
// own NUMA nodes, as do the other ranks that may run there; a rank without such takes
// from all. Where there are more ranks than GPUs several have the same one.
func shareOfGPUs(all []place, r int) []int {
	own := all[r]
	same := func(p place) bool {
		return p.Host == own.Host && slices.EqualFunc(p.GPUs, own.GPUs, func(a, b near) bool { return a.PCI == b.PCI })
	}
	here := func(p place) (list []int) {
		for i, g := range p.GPUs {
			if g.Here {
				list = append(list, i)
			}
		}
		return list
	}
	wanted := here(own)
	var before, sharers int
	for k, p := range all {
		if !same(p) || !slices.Equal(here(p), wanted) {
			continue
		}
		sharers++
		if k < r {
			before++
		}
	}
	if len(wanted) == 0 {
		for i := range own.GPUs {
			wanted = append(wanted, i)
		}
	}
	n := len(wanted)
	if n == 0 {
		return nil
	}
	lo, hi := before*n/sharers, (before+1)*n/sharers
	return wanted[lo:max(hi, lo+1)]
}

// devicesOf names GPUs as in msrep.Config.
func devicesOf(gpus []int) string {
	names := make([]string, len(gpus))
	for i, g := range gpus {
		names[i] = strconv.Itoa(g)
	}
	return "cuda:" + strings.Join(names, ",")
}

// places tells all ranks where each of them runs.
func places(c Comm, own place) ([]place, error) {
	b, err := json.Marshal(own)
	if err != nil {
		return nil, err
	}
	all, err := c.Share(b)
	if err != nil {
		return nil, err
	}
	out := make([]place, len(all))
	for r, b := range all {
		if err := json.Unmarshal(b, &out[r]); err != nil {
			return nil, err
		}
	}
	return out, nil
}
