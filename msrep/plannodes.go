package msrep

import (
	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/numa"
)

// PlanNode describes the part of a plan on one NUMA node.
type PlanNode struct {
	Node    int
	Devices []int          // indices in System.Devices
	NNZ     int64          // entries
	Bytes   int64          // device memory that the plan holds on the node
	Pages   numa.PageCount // actual nodes of the pages of that memory, from the operating system
}

// Nodes returns the parts of a placed plan by node, and where their memory is. It returns nil for a plan that is not
// placed. Pages is empty if the operating system does not report it, and leaves out buffers below 16 KiB. Nodes waits
// for a running product.
func (p *Plan[V]) Nodes() []PlanNode {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []PlanNode
	for _, n := range p.nodes {
		node := PlanNode{Node: n.node, NNZ: n.part.NNZ()}
		bufs := []kernels.Buffer{n.x.Buf}
		for i, s := range p.shares[n.first:n.end] {
			node.Devices = append(node.Devices, n.first+i)
			bufs = append(bufs, s.buffers()...)
		}
		for _, b := range bufs {
			if b != nil {
				node.Bytes += b.Bytes()
				node.Pages.Add(pagesOf(b))
			}
		}
		out = append(out, node)
	}
	if p.x.Buf != nil {
		p.countX(out)
	}
	return out
}

// countX adds the interleaved copy of x to out: to each node an equal fraction of the bytes, and the pages on this
// node. Pages on other nodes count for the first node.
func (p *Plan[V]) countX(out []PlanNode) {
	pages, bytes := pagesOf(p.x.Buf), p.x.Buf.Bytes()
	for i := range out {
		n := &out[i]
		n.Bytes += par.Cut(bytes, len(out), i+1) - par.Cut(bytes, len(out), i)
		n.Pages.Add(numa.PageCount{Nodes: map[int]int{n.Node: pages.Nodes[n.Node]}})
		delete(pages.Nodes, n.Node)
	}
	out[0].Pages.Add(pages)
}

// pagesOf counts the pages of a buffer by node; none for a small buffer, which shares its pages with others.
func pagesOf(b kernels.Buffer) (none numa.PageCount) {
	d, ok := b.Device().(kernels.HostMapper)
	if !ok || b.Bytes() < mem.MinMapped {
		return none
	}
	m, err := d.View(b)
	if err != nil {
		return none
	}
	count, err := numa.Pages(m)
	if err != nil {
		return none
	}
	return count
}
