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

// XPlacement is where the devices of a plan read x.
type XPlacement string

// Where x is read.
const (
	// XInPlace is the memory of the caller.
	XInPlace XPlacement = "in place"
	// XReplicated is a copy on each node, or on each device that has memory of its
	// own, made for each product.
	XReplicated XPlacement = "replicated"
	// XInterleaved is one copy whose pages lie on the nodes in turn, made for each
	// product.
	XInterleaved XPlacement = "interleaved"
)

// XPlacement tells where x is read by products with op. A placed plan decides it
// when it is made, from the size of x, the number of entries and the nodes; see
// docs/numa.md for the rule. SpMM with several vectors at once reads X in place.
func (p *Plan[V]) XPlacement(op Transpose) XPlacement {
	p.mu.Lock()
	defer p.mu.Unlock()
	if q := p.instead(op); q != nil {
		return q.XPlacement(op)
	}
	if !p.inPlace() {
		return XReplicated
	}
	return p.placeOfX(p.lay.byMajor(op))
}

// placeOfX is where devices that work in place read x. A product that scatters
// reads each element once.
func (p *Plan[V]) placeOfX(byMajor bool) XPlacement {
	if !byMajor || len(p.nodes) == 0 {
		return XInPlace
	}
	return p.xPlace
}

// minCopiedX is the least size of x, in bytes, that is copied. A smaller one stays
// in the caches of every core after the first read.
const minCopiedX = 256 << 10

// maxCopyOfX is the part of a node's memory that copies of x may take there: one
// in maxCopyOfX.
const maxCopyOfX = 8

// chooseX decides where x is read by products that gather.
func (p *Plan[V]) chooseX() XPlacement {
	n, memory := int64(p.lay.minors), int64(0)
	bytes := n * mem.Size[V]()
	for _, g := range p.sys.nodes {
		m := p.sys.devices[g.first].Info().Memory
		if m > 0 && (memory == 0 || m < memory) {
			memory = m
		}
	}
	fits := func(copy int64) bool { return memory == 0 || copy <= memory/maxCopyOfX }
	nodes := int64(len(p.sys.nodes))
	if nodes < 2 || bytes < minCopiedX {
		return XInPlace
	}
	cost := costsOfX(n, p.nnz, len(p.sys.nodes), p.sys.farness)
	best := XInPlace
	if fits(bytes/nodes) && p.inPlace() && cost[XInterleaved] < cost[best] {
		best = XInterleaved
	}
	if fits(bytes) && cost[XReplicated] < cost[best] {
		best = XReplicated
	}
	return best
}

// costsOfX models what x costs a product that gathers: the time that the memory of
// the busiest node needs, in units of one element of its own. Each of the entries
// reads an element; x has n elements and lies on one node.
//
//	in place     entries
//	interleaved  n + n/nodes + entries/nodes * (1 + (farness-1)*(nodes-1)/nodes)
//	replicated   n*nodes + n + entries/nodes
//
// The first terms are reading the caller's x, which every node does for its copy,
// then writing copies, then reading them: of the interleaved one the share
// (nodes-1)/nodes from another node, which takes farness times as long.
func costsOfX(n, entries int64, nodes int, farness float64) map[XPlacement]float64 {
	x, e, k := float64(n), float64(entries), float64(nodes)
	return map[XPlacement]float64{
		XInPlace:     e,
		XInterleaved: x + x/k + e/k*(1+(farness-1)*(k-1)/k),
		XReplicated:  x*k + x + e/k,
	}
}

// spreadX makes the interleaved copy of x, where the product reads one.
func (r *run[V]) spreadX() error {
	p := r.plan
	for _, s := range p.shares {
		s.nodeX = nil
	}
	if p.placeOfX(r.byMajor) != XInterleaved {
		return nil
	}
	t := time.Now()
	var owners []kernels.Device // one of each node
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

// bringX copies x to the memory of the node, where the product reads a copy of it.
// Devices that do not work in place have vectors of their own, and bring x
// themselves.
func (r *run[V]) bringX(n *nodeShare[V]) error {
	if !r.plan.inPlace() || r.plan.placeOfX(r.byMajor) != XReplicated {
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

// copyX copies x, every device a stretch, and lets them read the copy.
func copyX[V sparse.Value](hosts []*share[V], to *kernels.Array[V], x []V) error {
	for _, s := range hosts {
		s.nodeX = to
	}
	return together(len(hosts), func(i int) error {
		lo, hi := par.Cut(to.Len, len(hosts), i), par.Cut(to.Len, len(hosts), i+1)
		stream := hosts[i].stream
		return errors.Join(stream.Write(to.Buf, lo*mem.Size[V](), mem.Bytes(x[lo:hi])), stream.Sync())
	})
}
