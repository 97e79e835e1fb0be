package msrep

import (
	"slices"
	"time"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/msrep/internal/placement"
	"github.com/msrep-go/msrep/msrep/internal/reorder"
	"github.com/msrep-go/msrep/numa"
	"github.com/msrep-go/msrep/sparse"
)

// Share is the part of a matrix that one device multiplies.
type Share struct {
	Device int // index in System.Devices
	Part   Part
}

// Dims returns the number of rows and columns of A.
func (p *Plan[V]) Dims() (rows, cols int) {
	if p.lay.ByRow {
		return p.lay.Majors, p.lay.Minors
	}
	return p.lay.Minors, p.lay.Majors
}

// NNZ returns the number of stored entries.
func (p *Plan[V]) NNZ() int64 { return p.nnz }

// Format returns the format in which the matrix was split: csr, csc or coo. Packed returns the forms of the parts.
func (p *Plan[V]) Format() sparse.Format { return p.lay.Format }

// Rule returns the rule by which the matrix was split.
func (p *Plan[V]) Rule() SplitRule { return p.rule }

// Deterministic reports whether products have the same bits on any devices with any number of threads; see
// PlanOptions.Deterministic.
func (p *Plan[V]) Deterministic() bool { return p.opt.Deterministic }

// Reordering returns the order of the plan: its row k and column k are row and column Reordering()[k] of the matrix. It
// returns nil if the plan has the order of the matrix; see PlanOptions.Reorder. Do not change the result. Vectors made by
// the plan, those of Apply, and the rows of Shares are in the order of the plan.
func (p *Plan[V]) Reordering() []int32 {
	if p == nil || p.order == nil {
		return nil
	}
	return p.order.Rows
}

// Permute copies src, a vector in the order of the matrix, to dst in the order of the plan: dst[k] = src[Reordering()[k]]. To
// write a vector to devices, permute it and pass the result to Vector.Write. dst and src have an element for each row of
// the matrix, which is square if the plan has an order of its own, and may not overlap. Without Reordering, Permute copies src.
func (p *Plan[V]) Permute(dst, src []V) error {
	return p.permute(dst, src, (*reorder.Order[V]).In)
}

// PermuteBack copies src, a vector in the order of the plan, such as one that Vector.Read has read, to dst in the order of the
// matrix: dst[Reordering()[k]] = src[k]. Otherwise it is as Permute.
func (p *Plan[V]) PermuteBack(dst, src []V) error {
	return p.permute(dst, src, (*reorder.Order[V]).Out)
}

func (p *Plan[V]) permute(dst, src []V, to func(o *reorder.Order[V], dst, src []V)) error {
	if p == nil || p.sys == nil {
		return errNoPlan
	}
	if len(dst) != len(src) {
		return sparse.Inputf("dst", "%d elements: src has %d", len(dst), len(src))
	}
	if p.order == nil {
		copy(dst, src)
		return nil
	}
	if n := len(p.order.Rows); len(src) != n {
		return sparse.Inputf("src", "%d elements: the matrix has %d rows", len(src), n)
	}
	if mem.Overlap(dst, src) {
		return sparse.Inputf("dst", "shares memory with src")
	}
	to(p.order, dst, src)
	return nil
}

// Timing returns the time that each phase of NewPlan took.
func (p *Plan[V]) Timing() PlanTiming { return p.timing }

// Shares returns the parts, one for each device, in the order of System.Devices.
func (p *Plan[V]) Shares() []Share {
	out := make([]Share, len(p.parts))
	for i, q := range p.parts {
		out[i] = Share{i, q}
	}
	return out
}

// Bytes returns the number of bytes of device memory that the plan holds now, without arrays that it uses in place.
func (p *Plan[V]) Bytes() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	sum := p.rowBuffers.bytes()
	for i := range p.shares {
		for _, b := range p.buffers(i) {
			sum += b.Bytes()
		}
	}
	if b := p.interleaved(); b != nil {
		sum += b.Bytes()
	}
	if p.transposed != nil {
		sum += p.transposed.Bytes()
	}
	return sum
}

// buffers returns the device memory that the plan holds on device i.
func (p *Plan[V]) buffers(i int) []kernels.Buffer {
	return slices.DeleteFunc(append(p.shares[i].buffers(), p.route.Buffers(i)...), func(b kernels.Buffer) bool { return b == nil })
}

// interleaved returns the memory of the plan that is on all nodes; nil if there is none.
func (p *Plan[V]) interleaved() kernels.Buffer {
	if r, ok := p.route.(*shared[V]); ok && r.x == XInterleaved && r.copies != nil {
		return r.copies[0].Buf
	}
	return nil
}

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
		node := PlanNode{Node: n.Node}
		for i := n.First; i < n.End; i++ {
			node.Devices = append(node.Devices, i)
			node.NNZ += p.parts[i].NNZ()
			for _, b := range p.buffers(i) {
				node.Bytes += b.Bytes()
				node.Pages.Add(pagesOf(b))
			}
		}
		out = append(out, node)
	}
	if b := p.interleaved(); b != nil {
		countInterleaved(b, out)
	}
	return out
}

// countInterleaved adds b, whose pages alternate between the nodes, to out: to each node an equal fraction of the bytes,
// and the pages on this node. Pages on other nodes count for the first node.
func countInterleaved(b kernels.Buffer, out []PlanNode) {
	pages, bytes := pagesOf(b), b.Bytes()
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

// XPlacement states where the devices of a plan read x.
type XPlacement = placement.X

// The values of XPlacement.
const (
	// XInPlace means that the devices read the memory of the caller.
	XInPlace = placement.InPlace
	// XReplicated means that each product copies x to each node, or to each device that has its own memory.
	XReplicated = placement.Replicated
	// XInterleaved means that each product makes one copy of x, whose pages alternate between the nodes.
	XInterleaved = placement.Interleaved
)

// XPlacement returns where products with op read x. NewPlan decides this for a placed plan, by the size of x, the
// number of entries and the nodes; docs/numa.md states the rule. SpMM with several vectors at once reads X in place.
func (p *Plan[V]) XPlacement(op Transpose) XPlacement {
	p.mu.Lock()
	defer p.mu.Unlock()
	if q := p.transposedFor(op); q != nil {
		return q.XPlacement(op)
	}
	return p.route.XPlacement(p.lay.ByMajor(bool(op)))
}

// Timing states how long the phases of one product took. A phase on several devices takes as long as on the slowest
// device. With Baseline, which uses one device after the other, it is the sum over the devices.
type Timing struct {
	Distribute time.Duration // copies of vectors to the devices; 0 if they are used in place
	Kernel     time.Duration
	Merge      time.Duration   // copies of results to the host, and merging
	Total      time.Duration   // of the whole call
	Devices    []time.Duration // the kernel of each device
}

// LastTiming returns the timing of the last product by SpMV or SpMM. It is zero before the first product and after a
// product that failed. LastTiming waits for a running product.
func (p *Plan[V]) LastTiming() Timing {
	if p == nil {
		return Timing{}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.last
	t.Devices = slices.Clone(t.Devices)
	return t
}

// PlanTiming states how long the phases of NewPlan took.
type PlanTiming struct {
	Validate   time.Duration
	Convert    time.Duration // conversion to another format, sorting, and PlanOptions.Reorder; on GPUs also the computation of pointers for parts in COO
	Pack       time.Duration // choosing and building the forms of the parts
	Partition  time.Duration // the split, and local pointers if a device needs them
	Distribute time.Duration // copies of parts to the devices; 0 if they are used in place
}

// together returns the time of work on several devices, if it takes a on some and b on another: with Baseline the devices
// work one after the other.
func (p *Plan[V]) together(a, b time.Duration) time.Duration {
	if p.opt.Variant.Strategy == Baseline {
		return a + b
	}
	return max(a, b)
}

// combine combines the times of the devices of a product.
func (p *Plan[V]) combine(times []Timing) (t Timing) {
	t.Devices = make([]time.Duration, 0, len(times))
	for _, d := range times {
		t.Devices = append(t.Devices, d.Kernel)
		t.Distribute, t.Kernel, t.Merge = p.together(t.Distribute, d.Distribute), p.together(t.Kernel, d.Kernel), p.together(t.Merge, d.Merge)
	}
	return t
}

// add adds the times of a product that ran after this one.
func (t *Timing) add(o Timing) {
	t.Distribute += o.Distribute
	t.Kernel += o.Kernel
	t.Merge += o.Merge
	t.Total += o.Total
	if t.Devices == nil {
		t.Devices = make([]time.Duration, len(o.Devices))
	}
	for i, d := range o.Devices {
		t.Devices[i] += d
	}
}
