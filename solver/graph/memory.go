package graph

import (
	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels/cpu"
	"github.com/msrep-go/msrep/sparse"
)

// graphFits returns an error where need bytes do not fit in memory. The error names the size of the graph and what.
func graphFits(nodes, links int, what string, need int64) error {
	if have, ok := mem.Fits(need); !ok {
		return sparse.Inputf("matrix", "%d links between %d nodes: to %s takes %d bytes, %d are available", links, nodes, what, need, have)
	}
	return nil
}

// ranksFit returns an error where PageRank on CPU devices does not fit in memory: the links in their form, and the
// larger of the vectors and the temporary memory for building the form.
func ranksFit(g *Graph, opt Options) error {
	stored := opt.Weights == WeightsStored
	rows := cpu.SegmentedRows{Ptr: g.ptr, Idx: g.in}
	kept, temporary := cpu.SegmentedBytes(opt.linkForm(), rows, opt.layout(), stored, opt.WideIndices)
	if opt.borrows() {
		kept, temporary = 0, 0
	}
	vectors := 24 * int64(g.nodes)
	if g.number != nil {
		vectors += 8 * int64(g.nodes)
	}
	if opt.segments() == 1 { // joining the weights needs the temporary memory again
		vectors += temporary
	}
	if stored && g.share == nil {
		temporary += 8 * int64(len(g.in)) // weights before they are packed
	}
	return graphFits(g.nodes, len(g.in), "rank these", kept+max(temporary, vectors))
}
