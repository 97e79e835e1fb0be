package msrep

import (
	"context"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/sparse"
)

// product is a product of host vectors in progress, or a product of Vectors that is being queued. x and y are those of the
// caller; a product of Vectors has none.
type product[V sparse.Value] struct {
	ctx          context.Context
	byMajor      bool // a major product, whose results are merged by row; otherwise whole vectors are merged
	fixed, short bool // the plan is deterministic; no major is longer than kernels.FixedChunk
	alpha, beta  V
	x, y         []V
}

// xFor returns the elements of x that the device of s reads: all, or those of its majors.
func (q *product[V]) xFor(s *share[V]) []V {
	if q.byMajor || s.arrays == coordinates {
		return q.x
	}
	return q.x[s.part.First():s.part.End()]
}

// route is the way of the products of a plan through its devices.
//
//	direct     one device has the matrix in a form and uses x and y in place
//	shared     devices use x and y in place and add the sums of rows that they share
//	staged     each device gets a copy of x, and the host merges the results: strategies p and baseline
//	resident   each device has elements of x and rows of y, and devices exchange what others need
type route[V sparse.Value] interface {
	// Multiply computes a product of host vectors. After an error the plan is unusable.
	Multiply(q *product[V]) (Timing, error)
	// XPlacement returns where major products (byMajor) or minor products read x.
	XPlacement(byMajor bool) XPlacement
	// Buffers returns the memory of the route on device i; elements may be nil.
	Buffers(i int) []kernels.Buffer
	// Close frees the memory of the route.
	Close() error
}

// transfer returns how the devices get their parts.
func (p *Plan[V]) transfer() transfer {
	switch {
	case p.opt.Variant.Strategy != Optimized:
		return localByHost
	case !p.sys.devices().OnHost():
		return localByDevice
	case len(p.nodes) > 0:
		return toNode
	}
	return inPlace
}

// newRoute returns the route for the products of the plan.
func (p *Plan[V]) newRoute() route[V] {
	n := len(p.shares)
	times := make([]Timing, n)
	switch p.transfer() {
	case localByHost:
		return &staged[V]{p, make([]stage[V], n), make([]stage[V], n), times}
	case localByDevice:
		return &resident[V]{p: p, major: make([]exchangeBuffers[V], n), minor: make([]exchangeBuffers[V], n), times: times}
	}
	r := &shared[V]{p: p, x: XInPlace, partials: make([]kernels.Array[V], n), times: times}
	if len(p.nodes) > 0 {
		r.x = p.sys.nodes.ChooseX(int64(p.lay.Minors), mem.Size[V](), p.nnz)
	}
	if p.transfer() == inPlace && n == 1 && p.shares[0].packed != nil {
		return &direct[V]{shared: *r}
	}
	return r
}
