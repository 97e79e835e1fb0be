package solver

import (
	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels/cpu/form"
	"github.com/msrep-go/msrep/sparse"
)

// fit refuses a solve whose vectors of n elements do not fit into host memory, before
// any of them is made; with a basis also its two triangles, of a cycle as long as it may be.
func (m method) fit(opt Options, n int) error {
	count := m.vectors
	if opt.Precond != nil {
		count += m.precondVectors
	}
	var triangles int64
	if m.keepsBasis {
		steps := min(opt.Restart, opt.MaxIter)
		count += steps
		triangles = int64(steps) * int64(steps+3) // column j has j+2 numbers
	}
	need := 8 * (int64(count)*int64(n) + triangles)
	have, ok := mem.Fits(need)
	switch {
	case ok:
		return nil
	case m.keepsBasis:
		return sparse.Inputf("restart", "%d: the %d vectors of %d elements and the triangles that %s keeps take %d bytes, %d are available", opt.Restart, count, n, m.name, need, have)
	}
	return sparse.Inputf("x", "%d elements: the %d vectors that %s keeps take %d bytes, %d are available", n, count, m.name, need, have)
}

// manyFit is fit for the CGs of several systems.
func manyFit(systems, n int) error {
	const each, beside = 4, 3 // beside: of one system at a time
	need := 8 * int64(each*systems+beside) * int64(n)
	if have, ok := mem.Fits(need); !ok {
		return sparse.Inputf("x", "%d vectors of %d elements: the %d vectors for each that cg keeps take %d bytes, %d are available", systems, n, each, need, have)
	}
	return nil
}

// vectorsFit refuses vectors of n elements that take so many bytes together.
func vectorsFit(name, what string, need int64, n int) error {
	if have, ok := mem.Fits(need); !ok {
		return sparse.Inputf(name, "%d elements: %s %d bytes, %d are available", n, what, need, have)
	}
	return nil
}

// graphFits refuses to do with a graph what there is no memory for.
func graphFits(nodes, links int, what string, need int64) error {
	if have, ok := mem.Fits(need); !ok {
		return sparse.Inputf("matrix", "%d links between %d nodes: to %s takes %d bytes, %d are available", links, nodes, what, need, have)
	}
	return nil
}

// ranksFit refuses a graph that CPU devices have no memory to rank the nodes of: the links in
// the form that they are read in, and the vectors, or what goes before these are made.
func ranksFit(g *Graph, opt PageRankOptions) error {
	stored := opt.Weights == WeightsStored
	rows := form.Rows[float64]{Ptr: g.ptr, Idx: g.in}
	kept, passing := form.SegmentedBytes(opt.linkForm(), rows, opt.layout(), stored, opt.WideIndices)
	vectors := 24 * int64(g.nodes)
	if g.number != nil {
		vectors += 8 * int64(g.nodes)
	}
	if opt.segments() == 1 { // the weights are joined again
		vectors += passing
	}
	if stored {
		passing += 8 * int64(len(g.in)) // weights that are not in the form yet
	}
	return graphFits(g.nodes, len(g.in), "rank these", kept+max(passing, vectors))
}
