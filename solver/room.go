package solver

import (
	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels/cpu/form"
	"github.com/msrep-go/msrep/sparse"
)

// fit refuses a solve whose vectors of n elements do not fit into host memory, before
// any of them is made.
func (m method) fit(opt Options, n int) error {
	count := m.vectors
	if opt.Precond != nil {
		count += m.kept
	}
	if m.basis {
		count += min(opt.Restart, opt.MaxIter)
	}
	need := 8 * int64(count) * int64(n)
	have, ok := mem.Fits(need)
	switch {
	case ok:
		return nil
	case m.basis:
		return sparse.Inputf("restart", "%d: the %d vectors of %d elements that %s keeps take %d bytes, %d are available", opt.Restart, count, n, m.name, need, have)
	}
	return sparse.Inputf("x", "%d elements: the %d vectors that %s keeps take %d bytes, %d are available", n, count, m.name, need, have)
}

// manyFit is fit for the CGs of several systems.
func manyFit(opt Options, systems, n int) error {
	each := 4
	if opt.Precond != nil {
		each = 5
	}
	const beside = 3 // of one system at a time
	need := 8 * int64(each*systems+beside) * int64(n)
	if have, ok := mem.Fits(need); !ok {
		return sparse.Inputf("x", "%d vectors of %d elements: the %d vectors for each that cg keeps take %d bytes, %d are available", systems, n, each, need, have)
	}
	return nil
}

// graphFits refuses a graph that there is no memory to turn round for.
func graphFits(nodes int, links int64) error {
	need := 16*int64(nodes) + 16*links
	if have, ok := mem.Fits(need); !ok {
		return sparse.Inputf("matrix", "%d links between %d nodes: to turn them round takes %d bytes, %d are available", links, nodes, need, have)
	}
	return nil
}

// ranksFit refuses a graph that CPU devices have no memory to rank the nodes of: at the least
// two vectors, and the links in the form that they are read in, with pointers and weights.
func ranksFit(g *Graph, opt PageRankOptions) error {
	places, each := int64(len(g.in)), int64(4)
	if opt.Format != GraphCSR {
		places, each = places+form.SlicePadding(g.ptr), 2 // of columns that are near each other
	}
	if opt.Weights == WeightsStored {
		each += 8
	}
	need := 24*int64(g.nodes) + each*places
	if opt.Weights == WeightsStored {
		need += 8 * int64(len(g.in)) // before they are stored
	}
	if have, ok := mem.Fits(need); !ok {
		return sparse.Inputf("matrix", "%d links between %d nodes: to rank these takes at least %d bytes, %d are available", len(g.in), g.nodes, need, have)
	}
	return nil
}
