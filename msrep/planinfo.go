package msrep

import (
	"github.com/msrep-go/msrep/sparse"
)

// Share is the part of a matrix that one device multiplies.
type Share struct {
	Device int // index in System.Devices
	Part   Part
}

// Dims returns the number of rows and columns of A.
func (p *Plan[V]) Dims() (rows, cols int) {
	if p.lay.byRow {
		return p.lay.majors, p.lay.minors
	}
	return p.lay.minors, p.lay.majors
}

// NNZ returns the number of stored entries.
func (p *Plan[V]) NNZ() int64 { return p.nnz }

// Format returns the format in which the matrix was split: csr, csc or coo. Packed returns the forms of the parts.
func (p *Plan[V]) Format() sparse.Format { return p.lay.format }

// Rule returns the rule by which the matrix was split.
func (p *Plan[V]) Rule() SplitRule { return p.rule }

// Deterministic reports whether products have the same bits on any devices with any number of threads; see
// PlanOptions.Deterministic.
func (p *Plan[V]) Deterministic() bool { return p.opt.Deterministic }

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
	var sum int64
	for _, s := range p.shares {
		for _, b := range s.buffers() {
			sum += b.Bytes()
		}
	}
	for _, n := range p.nodes {
		if n.x.Buf != nil {
			sum += n.x.Buf.Bytes()
		}
	}
	if p.x.Buf != nil {
		sum += p.x.Buf.Bytes()
	}
	sum += p.rowBuffers.bytes()
	if p.transposed != nil {
		sum += p.transposed.Bytes()
	}
	return sum
}
