package msrep

import (
	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/numa"
)

// PlanNode is the part of a plan that is on one node.
type PlanNode struct {
	Node    int
	Devices []int          // indices in System.Devices
	NNZ     int64          // entries
	Bytes   int64          // of device memory that the plan holds there
	Pages   numa.PageCount // where the pages of that memory are, as the kernel says
}

// Nodes tells which part of the plan is on which node, and where its memory lies.
// It is empty without placement: the matrix is then used where it is. Pages stays
// empty where the system does not tell; buffers below 16 KiB are not in it. It
// waits for a product that is running.
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

// countX adds the interleaved copy of x: to each node its share of the bytes, and
// the pages that are there. Pages that are on none of the nodes go to the first.
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

// pagesOf counts the pages of a buffer that has pages of its own.
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
