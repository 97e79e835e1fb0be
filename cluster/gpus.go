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
// host that see the same GPUs share these out evenly. Each takes from those that hang
// on its own NUMA nodes first, then from what nobody else took. Where there are more
// ranks than GPUs several have the same one.
func shareOfGPUs(all []place, r int) []int {
	own := all[r]
	var group []place
	me := 0
	for k, p := range all {
		if p.Host == own.Host && slices.EqualFunc(p.GPUs, own.GPUs, func(a, b near) bool { return a.PCI == b.PCI }) {
			if k == r {
				me = len(group)
			}
			group = append(group, p)
		}
	}
	gpus, ranks := len(own.GPUs), len(group)
	if gpus == 0 {
		return nil
	}
	users := make([]int, gpus) // ranks that have each
	most := (ranks + gpus - 1) / gpus
	shares := make([][]int, ranks)
	for _, near := range []bool{true, false} {
		for k, p := range group {
			share := max(1, (k+1)*gpus/ranks-k*gpus/ranks)
			for len(shares[k]) < share {
				best := leastUsed(users, func(g int) bool {
					return users[g] < most && (p.GPUs[g].Here || !near) && !slices.Contains(shares[k], g)
				})
				if best < 0 {
					break
				}
				users[best]++
				shares[k] = append(shares[k], best)
			}
		}
	}
	slices.Sort(shares[me])
	return shares[me]
}

// leastUsed is the first GPU with the fewest users among those that suit, -1 where none does.
func leastUsed(users []int, suits func(g int) bool) int {
	best := -1
	for g, n := range users {
		if suits(g) && (best < 0 || n < users[best]) {
			best = g
		}
	}
	return best
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
