package bench

import (
	"math"

	"github.com/msrep-go/msrep/internal/stats"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/ellpack"
)

// countedCost estimates the cost of a product on a GPU in bytes from the counts of the interpreter: the sectors that
// it moves, or 5.3 bytes for each instruction of a warp, whichever is more (stats.RecommendGPU).
func countedCost(c Counted) float64 { return max(32*float64(c.Distinct), 5.3*float64(c.Instructs)) }

// RegretOnGPU returns the format that is recommended for a GPU, and its cost over that of the best of csr and
// sparse/ellpack, by the counts of the interpreter. It needs no GPU. a must have entries.
func RegretOnGPU(a *sparse.CSR[float64]) (f sparse.Format, ratio float64, err error) {
	s := stats.Of(a)
	f = s.RecommendGPU().Format
	best, recommended := math.Inf(1), math.NaN()
	for _, g := range append([]sparse.Format{sparse.FormatCSR}, ellpack.Formats()...) {
		c := s.Formats[string(g)]
		if c.Bytes > maxInterpretedBytes || g == ellpack.FormatELL && c.Padding > 40*s.NNZ {
			continue // its padding takes far more than the best format
		}
		r := FormatRun{Format: g}
		if err := r.interpret(a); err != nil {
			return f, 0, err
		}
		if r.Instructs == 0 {
			continue
		}
		cost := countedCost(r.Counted)
		best = min(best, cost)
		if g == f {
			recommended = cost
		}
	}
	return f, recommended / best, nil
}
