package solver

import (
	"cmp"
	"math"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/cpms"
)

// Precision says how many bits of ranks and weights the iterations read.
type Precision string

// These are the precisions. Sums are in float64 for all of them.
const (
	FP64  Precision = "fp64"  // always 64 bits
	CPMS2 Precision = "cpms2" // 1 of 2 segments (32 bits), then all
	CPMS4 Precision = "cpms4" // 2 of 4 segments (32 bits), then 3, then all; see PageRankOptions.LeastBits
)

// GraphFormat says how the links of a graph are stored.
type GraphFormat string

// These are the formats of graphs.
const (
	GraphAuto  GraphFormat = "auto"  // ell where its padding is at most a quarter of the links, else csr
	GraphCSR   GraphFormat = "csr"   // the incoming links of one node after the other
	GraphELL   GraphFormat = "ell"   // slices of 8 nodes, each padded to the node with the most incoming links
	GraphPELLR GraphFormat = "pellr" // ell, with the nodes sorted by the number of incoming links within windows
)

// Weights says whether the weights 1/O_i are stored.
type Weights string

// These are the ways to apply the weights.
const (
	// WeightsFolded divides the ranks by O_i once in each iteration, so that the matrix needs no values: a link
	// takes 4 bytes instead of 12.
	WeightsFolded Weights = "folded"
	// WeightsStored stores 1/O_i with each link, as the CPMS paper and its baseline do.
	WeightsStored Weights = "stored"
)

// PageRankOptions controls PageRank. The zero value suits most uses.
type PageRankOptions struct {
	Damping   float64   // damping factor, above 0 and below 1; 0 means 0.85
	Tol       float64   // PageRank ends when the 1-norm of the difference of two iterates is below Tol; 0 means 1e-10
	MaxIter   int       // largest number of iterations; 0 means 1000
	Precision Precision // "" means FP64
	// LeastBits is the number of bits of each value that the first iterations read: 32, or 16 with CPMS4 as in
	// Table 2 of the CPMS paper; 0 means 32. With 16 bits, 4 of them mantissa, most graphs need more iterations,
	// because rounding moves the start vector away from the solution (docs/cpms.md).
	LeastBits int
	Format    GraphFormat // "" means GraphAuto
	Weights   Weights     // "" means WeightsFolded
	// WideIndices stores the source node of each link in 4 bytes, as the CPMS paper does. Otherwise ell and
	// pellr on CPU devices store it in 2 bytes where the source nodes have numbers near that of the target. It is
	// for measurements.
	WideIndices bool
	// Bank is cpms.Layout.Bank for stored weights: the number of consecutive bytes of one kind of segment, or
	// cpms.Separated (0). It does not apply to vectors.
	Bank int
}

// fill sets the defaults and checks the options.
func (o *PageRankOptions) fill() error {
	o.Damping, o.Tol, o.MaxIter = cmp.Or(o.Damping, 0.85), cmp.Or(o.Tol, 1e-10), cmp.Or(o.MaxIter, 1000)
	o.LeastBits = cmp.Or(o.LeastBits, 32)
	o.Precision, o.Format, o.Weights = cmp.Or(o.Precision, FP64), cmp.Or(o.Format, GraphAuto), cmp.Or(o.Weights, WeightsFolded)
	switch {
	case !(o.Damping > 0 && o.Damping < 1):
		return sparse.Inputf("damping", "%g: it must be above 0 and below 1", o.Damping)
	case !(o.Tol > 0) || math.IsInf(o.Tol, 0):
		return sparse.Inputf("tolerance", "%g: it must be above 0 and finite", o.Tol)
	case o.MaxIter < 0:
		return sparse.Inputf("max iterations", "%d: use a positive number, or 0 for 1000", o.MaxIter)
	case o.Precision != FP64 && o.Precision != CPMS2 && o.Precision != CPMS4:
		return sparse.Inputf("precision", "%q is not known: use %s, %s or %s", string(o.Precision), FP64, CPMS2, CPMS4)
	case o.LeastBits != 16 && o.LeastBits != 32:
		return sparse.Inputf("least bits", "%d: use 16 or 32", o.LeastBits)
	case o.LeastBits == 16 && o.Precision != CPMS4:
		return sparse.Inputf("least bits", "16: only precision %s reads 16 bits, this is %s", CPMS4, o.Precision)
	case o.Format != GraphAuto && o.Format != GraphCSR && o.Format != GraphELL && o.Format != GraphPELLR:
		return sparse.Inputf("format", "%q is not known: use %s, %s, %s or %s", string(o.Format), GraphAuto, GraphCSR, GraphELL, GraphPELLR)
	case o.Weights != WeightsFolded && o.Weights != WeightsStored:
		return sparse.Inputf("weights", "%q is not known: use %s or %s", string(o.Weights), WeightsFolded, WeightsStored)
	}
	return o.layout().Check()
}

// layout returns the layout of stored weights.
func (o *PageRankOptions) layout() cpms.Layout {
	if o.Precision == CPMS4 {
		return cpms.Layout{Segments: 4, Bank: o.Bank}
	}
	return cpms.Layout{Segments: 2, Bank: o.Bank}
}

// linkForm returns the form in which CPU devices store the links.
func (o *PageRankOptions) linkForm() kernels.Form {
	if o.Format == GraphCSR {
		return cpu.SegmentedCSR
	}
	return cpu.SegmentedELL
}

// segments returns the number of segments of a value; 1 for plain values.
func (o *PageRankOptions) segments() int {
	if o.Precision == FP64 {
		return 1
	}
	return o.layout().Segments
}

// switchFactor is the difference at which the precision changes, in units of the access precision. With 4, every tested
// graph needs at most one iteration more than with fp64; with 2, some need two more (docs/cpms.md).
const switchFactor = 4

// threshold returns the difference below which width bytes of each value are too few.
func threshold(width int) float64 {
	if width == 8 {
		return 0
	}
	return switchFactor * math.Ldexp(1, 12-8*width)
}

// widths returns the numbers of bytes of each value that the iterations read, in ascending order.
func (o *PageRankOptions) widths() (w []int) {
	step := 8 / o.segments()
	for b := max(step, o.LeastBits/8); b <= 8; b += step {
		w = append(w, b)
	}
	return w
}
