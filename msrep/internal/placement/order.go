package placement

import (
	"math"
	"slices"
	"strings"

	"github.com/msrep-go/msrep/kernels/nvidia"
)

// mostOrdered is the largest number of GPUs that orderByLinks orders: its time and memory double with each.
const mostOrdered = 16

// ownContexts reports whether a Devices string gives each device a context of its own, as cuda:0+0 does.
func ownContexts(devices string) bool { return strings.Contains(devices, "+") }

// orderByLinks orders GPUs so that those that follow each other are joined by fast links: neighbours in the split of a
// matrix exchange the most. Of all orders it takes the one with the fewest neighbours without direct access, then the
// fewest that are joined by PCIe only, then the least sum of the driver's ranks of the links, then of the differences of their
// numbers, and then the first by numbers. If the nodes of all are known, gpus is sorted by node; GPUs of one node stay
// together, and nodes keep their order.
func orderByLinks(gpus []nvidia.Config, between func(from, to int) (nvidia.LinkKind, int)) {
	n := len(gpus)
	if n < 3 || n > mostOrdered {
		return
	}
	nodes := !slices.ContainsFunc(gpus, func(c nvidia.Config) bool { return c.Node < 0 })
	cost := make([][]int64, n)
	for i := range cost {
		cost[i] = make([]int64, n)
		for j := range i {
			a, b := gpus[i].GPU, gpus[j].GPU
			c := max(linkCost(between(a, b)), linkCost(between(b, a))) + int64(max(a-b, b-a))
			cost[i][j], cost[j][i] = c, c
		}
	}
	// before[v] has the GPUs of earlier nodes.
	before := make([]int, n)
	for v := range before {
		for u := 0; nodes && gpus[u].Node != gpus[v].Node; u++ {
			before[v] |= 1 << u
		}
	}
	may := func(done, v int) bool { return done>>v&1 == 0 && before[v]&^done == 0 }
	// rest[done*n+last] is the least cost of an order of the others after these, of which last is the last.
	rest := make([]int64, n<<n)
	for done := 1<<n - 2; done > 0; done-- {
		for last := range n {
			least := int64(math.MaxInt64)
			for v := range n {
				if next := done | 1<<v; may(done, v) && rest[next*n+v] < math.MaxInt64 {
					least = min(least, cost[last][v]+rest[next*n+v])
				}
			}
			rest[done*n+last] = least
		}
	}
	order := make([]nvidia.Config, 0, n)
	for done, last := 0, -1; len(order) < n; {
		best, least := -1, int64(math.MaxInt64)
		for v := range n {
			if !may(done, v) {
				continue
			}
			c := rest[(done|1<<v)*n+v]
			if last >= 0 {
				c += cost[last][v]
			}
			if best < 0 || c < least {
				best, least = v, c
			}
		}
		done, last = done|1<<best, best
		order = append(order, gpus[best])
	}
	copy(gpus, order)
}

// linkCost returns the cost of a link in multiples of 1<<20, so that kinds count before ranks, and ranks before what is added.
func linkCost(kind nvidia.LinkKind, rank int) int64 {
	c := int64(min(max(rank, 0), 1<<10))
	switch kind {
	case nvidia.LinkSame, nvidia.LinkNVLink:
	case nvidia.LinkPCIe:
		c += 1 << 16
	default:
		c += 1 << 22
	}
	return c << 20
}
