package cluster

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/msrep-go/msrep/kernels/nvidia"
	"github.com/msrep-go/msrep/numa"
)

// place describes to all ranks where a rank runs.
type place struct {
	Host string
	CPUs string // CPUs that the rank may use, from usableCPUs
	GPUs []near // GPUs that the rank sees
}

// near is a GPU. Here is true if the rank may use CPUs of its NUMA node.
type near struct {
	PCI     string
	Here    bool
	Ordinal int // as the rank numbers its GPUs
}

// visibleGPUs returns all usable GPUs if devices is "auto" or "cuda", and none for other values, which name the GPUs.
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
		gpus = append(gpus, near{g.PCI, i >= 0 && len(topo.GPUs[i].CPUs) > 0, g.Ordinal})
	}
	return gpus
}

// shareOfGPUs returns the GPUs that rank r uses, numbered as it sees them. Ranks on one host that see the same GPUs
// divide these evenly. Each rank takes GPUs on its own NUMA nodes first, then GPUs that no rank has taken. With more
// ranks than GPUs, several ranks share one.
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
	users := make([]int, gpus) // number of ranks that have each GPU
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
	for k, g := range shares[me] {
		shares[me][k] = own.GPUs[g].Ordinal
	}
	return shares[me]
}

// leastUsed returns the first GPU with the fewest users among those that suit, -1 for none.
func leastUsed(users []int, suits func(g int) bool) int {
	best := -1
	for g, n := range users {
		if suits(g) && (best < 0 || n < users[best]) {
			best = g
		}
	}
	return best
}

// devicesOf returns a list of GPUs in the syntax of msrep.Config.
func devicesOf(gpus []int) string {
	names := make([]string, len(gpus))
	for i, g := range gpus {
		names[i] = strconv.Itoa(g)
	}
	return "cuda:" + strings.Join(names, ",")
}

// places returns the places of all ranks on all ranks.
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
