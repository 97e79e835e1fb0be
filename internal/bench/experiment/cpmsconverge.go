package experiment

import (
	"context"
	"fmt"

	"github.com/msrep-go/msrep/internal/bench/paper"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/solver/graph"
	"github.com/msrep-go/msrep/sparse"
)

// reading is the way in which PageRank reads values: a precision and the bits that it reads first.
type reading struct {
	precision graph.Precision
	least     int
}

// The readings of Table 2. The paper's 4 segments start with 16 bits, ours with 32.
var (
	readFP64      = reading{graph.FP64, 32}
	readCPMS2     = reading{graph.CPMS2, 32}
	readCPMS4     = reading{graph.CPMS4, 32}
	readCPMS4By16 = reading{graph.CPMS4, 16}
)

// readingOf returns the reading of PageRank with given options.
func readingOf(o graph.Options) reading {
	r := readFP64
	if o.Precision != "" {
		r.precision = o.Precision
	}
	if o.LeastBits != 0 {
		r.least = o.LeastBits
	}
	return r
}

// bits returns the bits of each value that an iteration reads.
func (r reading) bits(s graph.Step) int {
	switch r.precision {
	case graph.CPMS2:
		return 32 * s.Segments
	case graph.CPMS4:
		return 16 * s.Segments
	}
	return 64
}

// convergence holds, for each reading, the iterations that PageRank of a graph needs to the smallest of
// paper.CPMSThresholds, with stored weights in csr.
type convergence map[reading][]graph.Step

// converge ranks a graph with every reading.
func converge(ctx context.Context, sys *msrep.System, a *sparse.CSR[float64]) (convergence, error) {
	g, err := graph.New(ctx, a, graph.FormatCSR)
	if err != nil {
		return nil, err
	}
	out := convergence{}
	for _, r := range []reading{readFP64, readCPMS2, readCPMS4, readCPMS4By16} {
		res, err := rankWhole(ctx, sys, g, graph.Options{Precision: r.precision, LeastBits: r.least, Weights: graph.WeightsStored})
		if err != nil {
			return nil, fmt.Errorf("%s from %d bits: %w", r.precision, r.least, err)
		}
		out[r] = res.Steps
	}
	return out, nil
}

// rankWhole ranks to the smallest of paper.CPMSThresholds.
func rankWhole(ctx context.Context, sys *msrep.System, g *graph.Graph, opt graph.Options) (*graph.Result, error) {
	opt.Tol = paper.CPMSThresholds[len(paper.CPMSThresholds)-1]
	res, err := g.PageRank(ctx, sys, opt)
	if err == nil && !res.Converged {
		err = fmt.Errorf("no difference below %g in %d iterations", opt.Tol, res.Iterations)
	}
	return res, err
}

// to returns the number of iterations until the difference is below tol, in total and by the bits that they read.
func (c convergence) to(r reading, tol float64) (n map[int]int, total int) {
	n = map[int]int{}
	for _, s := range c[r] {
		n[r.bits(s)]++
		total++
		if s.Residual < tol {
			break
		}
	}
	return n, total
}
