package msrep

import (
	"errors"
	"fmt"
	"slices"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

// nodeShare is the part of a placed plan that one node multiplies. A thread of the first device of the node splits the
// part among the devices. In a product, one goroutine for each node copies x and merges the results; the loops over
// memory run on the workers of the devices.
type nodeShare[V sparse.Value] struct {
	nodeGroup
	part partition.Part   // of the whole matrix
	x    kernels.Array[V] // the copy of x on the node; the first product that needs it allocates it
}

// placeable reports whether the plan is split and placed by node. If a copy would take more than half of the memory
// of a node, the matrix is used in place, except with Partial, which always copies.
func (p *Plan[V]) placeable() bool {
	if len(p.sys.nodes) == 0 || p.opt.Variant.Strategy == Baseline {
		return false
	}
	if p.opt.Variant.Strategy == Partial { // always copies
		return true
	}
	bytes := float64(p.lay.bytes()) / float64(len(p.sys.devices)) // per device
	for _, g := range p.sys.nodes {
		memory := p.sys.devices[g.first].Info().Memory
		if need := bytes * float64(g.end-g.first); memory > 0 && need > float64(memory)/2 {
			p.sys.refusal.report(fmt.Sprintf("a copy of the matrix takes %.0f of the %d bytes of node %d, more than half: the matrix is used in place", need, memory, g.node))
			return false
		}
	}
	return true
}

// splitByNode splits the matrix in two levels: among the nodes, then among the devices of each node.
func (p *Plan[V]) splitByNode() error {
	whole, rule, err := p.lay.split(1, p.opt.Variant.Split)
	if err != nil {
		return err
	}
	p.rule = rule
	var weights []int
	for _, g := range p.sys.nodes {
		weights = append(weights, g.end-g.first)
	}
	parts, err := p.lay.splitPart(whole[0], weights, rule)
	if err != nil {
		return err
	}
	for i, g := range p.sys.nodes {
		p.nodes = append(p.nodes, &nodeShare[V]{nodeGroup: g, part: parts[i]})
	}
	p.parts = make([]partition.Part, len(p.sys.devices))
	return p.eachNode(func(n *nodeShare[V]) error {
		return runOnNode(p.sys.devices[n.first], func() error {
			inner, err := p.lay.splitPart(n.part, slices.Repeat([]int{1}, n.end-n.first), rule)
			copy(p.parts[n.first:n.end], inner)
			return err
		})
	})
}

// runOnNode runs f on a thread of d, and so on the node of d: a worker of a CPU device, or the thread that manages a
// GPU. f must not use the device.
func runOnNode(d kernels.Device, f func() error) (err error) {
	guarded := func() {
		defer rescue(&err)
		err = f()
	}
	switch d := d.(type) {
	case cpu.Workers:
		err = errors.Join(d.Run(1, func(int) { guarded() }), err)
	case interface{ OnThread(f func()) error }:
		err = errors.Join(d.OnThread(guarded), err)
	default:
		guarded()
	}
	return err
}

// eachNode calls f for all nodes at the same time and waits.
func (p *Plan[V]) eachNode(f func(n *nodeShare[V]) error) error {
	return inParallel(len(p.nodes), func(i int) error { return f(p.nodes[i]) })
}

// eachDevice calls f for all devices of the node at the same time and waits.
func (n *nodeShare[V]) eachDevice(f func(i int) error) error {
	return inParallel(n.end-n.first, func(i int) error { return f(n.first + i) })
}
