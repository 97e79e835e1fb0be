package msrep

import (
	"errors"
	"time"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu"
	"github.com/msrep-go/msrep/sparse"
)

// XPlacement states where the devices of a plan read x.
type XPlacement string

// The values of XPlacement.
const (
	// XInPlace means that the devices read the memory of the caller.
	XInPlace XPlacement = "in place"
	// XReplicated means that each product copies x to each node, or to each device that has its own memory.
	XReplicated XPlacement = "replicated"
	// XInterleaved means that each product makes one copy of x, whose pages alternate between the nodes.
	XInterleaved XPlacement = "interleaved"
)

// XPlacement returns where products with op read x. NewPlan decides this for a placed plan, by the size of x, the
// number of entries and the nodes; docs/numa.md states the rule. SpMM with several vectors at once reads X in place.
func (p *Plan[V]) XPlacement(op Transpose) XPlacement {
	p.mu.Lock()
	defer p.mu.Unlock()
	if q := p.transposedFor(op); q != nil {
		return q.XPlacement(op)
	}
	if !p.inPlace() {
		return XReplicated
	}
	return p.xPlacementFor(p.lay.byMajor(op))
}

// xPlacementFor returns where devices that use host memory read x. A minor product reads each element once, so a copy
// does not pay.
func (p *Plan[V]) xPlacementFor(byMajor bool) XPlacement {
	if !byMajor || len(p.nodes) == 0 {
		return XInPlace
	}
	return p.xPlace
}

// minCopiedX is the least size in bytes of an x that is copied. A smaller x stays in the caches of all cores after the
// first read.
const minCopiedX = 256 << 10

// xCopyDivisor limits the copies of x on a node to 1/xCopyDivisor of its memory.
const xCopyDivisor = 8

// chooseXPlacement decides where major products read x.
func (p *Plan[V]) chooseXPlacement() XPlacement {
	n, memory := int64(p.lay.minors), int64(0)
	bytes := n * mem.Size[V]()
	for _, g := range p.sys.nodes {
		m := p.sys.devices[g.first].Info().Memory
		if m > 0 && (memory == 0 || m < memory) {
			memory = m
		}
	}
	fits := func(copy int64) bool { return memory == 0 || copy <= memory/xCopyDivisor }
	nodes := int64(len(p.sys.nodes))
	if nodes < 2 || bytes < minCopiedX {
		return XInPlace
	}
	cost := xCosts(n, p.nnz, len(p.sys.nodes), p.sys.farness)
	best := XInPlace
	if fits(bytes/nodes) && p.inPlace() && cost[XInterleaved] < cost[best] {
		best = XInterleaved
	}
	if fits(bytes) && cost[XReplicated] < cost[best] {
		best = XReplicated
	}
	return best
}

// xCosts models the time that a major product spends on x: the time of the memory of the busiest node, in units of the
// time of one element of local memory. Each entry reads an element of x. x has n elements, all on one node.
//
//	in place     entries
//	interleaved  n + n/nodes + entries/nodes * (1 + (farness-1)*(nodes-1)/nodes)
//	replicated   n*nodes + n + entries/nodes
//
// The terms are, in this order, the time to read the caller's x (once for each copy), to write the copies, and to read
// them in the product. A fraction (nodes-1)/nodes of the reads of the interleaved copy is from another node and takes
// farness times as long.
func xCosts(n, entries int64, nodes int, farness float64) map[XPlacement]float64 {
	x, e, k := float64(n), float64(entries), float64(nodes)
	return map[XPlacement]float64{
		XInPlace:     e,
		XInterleaved: x + x/k + e/k*(1+(farness-1)*(k-1)/k),
		XReplicated:  x*k + x + e/k,
	}
}

// interleaveX makes the interleaved copy of x if the product reads x from it.
func (r *run[V]) interleaveX() error {
	p := r.plan
	for _, s := range p.shares {
		s.nodeX = nil
	}
	if p.xPlacementFor(r.byMajor) != XInterleaved {
		return nil
	}
	t := time.Now()
	var owners []kernels.Device // one for each node
	for _, n := range p.nodes {
		owners = append(owners, p.shares[n.first].dev)
	}
	if p.x.Buf == nil {
		b, err := cpu.AllocAcross(int64(len(r.x))*mem.Size[V](), owners)
		if err != nil {
			return err
		}
		p.x = kernels.Array[V]{Buf: b, Len: int64(len(r.x))}
	}
	err := copyX(p.shares, &p.x, r.x)
	for i := range r.times {
		r.times[i].Distribute += time.Since(t)
	}
	return err
}

// copyXToNode copies x to the memory of the node if the placement is XReplicated. Devices that have their own vectors
// copy x themselves.
func (r *run[V]) copyXToNode(n *nodeShare[V]) error {
	if !r.plan.inPlace() || r.plan.xPlacementFor(r.byMajor) != XReplicated {
		return nil
	}
	hosts := r.plan.shares[n.first:n.end]
	if n.x.Buf == nil {
		x, err := kernels.NewArray[V](hosts[0].dev, int64(len(r.x)))
		if err != nil {
			return err
		}
		n.x = x
	}
	return copyX(hosts, &n.x, r.x)
}

// copyX copies x to the array to, one range on each device, and makes the devices read the copy.
func copyX[V sparse.Value](hosts []*share[V], to *kernels.Array[V], x []V) error {
	for _, s := range hosts {
		s.nodeX = to
	}
	return inParallel(len(hosts), func(i int) error {
		lo, hi := par.Cut(to.Len, len(hosts), i), par.Cut(to.Len, len(hosts), i+1)
		stream := hosts[i].stream
		return errors.Join(stream.Write(to.Buf, lo*mem.Size[V](), mem.Bytes(x[lo:hi])), stream.Sync())
	})
}
