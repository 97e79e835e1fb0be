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

// nodeShare is one node's part of a placed plan. A thread of the node's first device
// represents it and splits the part among the devices. In a product one goroutine
// serves the node: it brings x and merges what the devices leave; what touches memory
// runs on the workers of the devices.
type nodeShare[V sparse.Value] struct {
	nodeGroup
	part partition.Part   // of the whole matrix
	x    kernels.Array[V] // the node's copy of x, made by the first product that wants one
}

// placeable reports whether the plan is split and placed by node. A matrix that
// would fill more than half of a node with its copy stays where it is, if it can.
func (p *Plan[V]) placeable() bool {
	if len(p.sys.nodes) == 0 || p.opt.Variant.Strategy == Baseline {
		return false
	}
	if p.opt.Variant.Strategy == Partial { // copies in any case
		return true
	}
	bytes := float64(p.lay.bytes()) / float64(len(p.sys.devices)) // of one device
	for _, g := range p.sys.nodes {
		memory := p.sys.devices[g.first].Info().Memory
		if need := bytes * float64(g.end-g.first); memory > 0 && need > float64(memory)/2 {
			p.sys.refusal.report(fmt.Sprintf("a copy of the matrix takes %.0f of the %d bytes of node %d, more than half: it is used where it is", need, memory, g.node))
			return false
		}
	}
	return true
}

// splitByNode is the two-level partition.
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
		return represent(p.sys.devices[n.first], func() error {
			inner, err := p.lay.splitPart(n.part, slices.Repeat([]int{1}, n.end-n.first), rule)
			copy(p.parts[n.first:n.end], inner)
			return err
		})
	})
}

// represent runs f on a thread of the device, which stands for its node: a worker of
// a CPU device, or the thread that manages a GPU. f must not use the device.
func represent(d kernels.Device, f func() error) (err error) {
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

// eachNode serves all nodes, each by its representative.
func (p *Plan[V]) eachNode(f func(n *nodeShare[V]) error) error {
	return together(len(p.nodes), func(i int) error { return f(p.nodes[i]) })
}

// eachOf serves the devices of a node, one goroutine for each.
func (n *nodeShare[V]) eachOf(f func(i int) error) error {
	return together(n.end-n.first, func(i int) error { return f(n.first + i) })
}
