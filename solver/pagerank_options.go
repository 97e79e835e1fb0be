package solver

import (
	"cmp"
	"math"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu/form"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/cpms"
)

// Precision says how much of ranks and weights is read, and when.
type Precision string

// The precisions. Sums are formed in float64 with all of them.
const (
	FP64  Precision = "fp64"  // all 64 bits, always
	CPMS2 Precision = "cpms2" // 1 of 2 segments (32 bits), then all
	CPMS4 Precision = "cpms4" // 2 of 4 segments (32 bits), then 3, then all; see PageRankOptions.LeastBits
)

// GraphFormat says how the links are kept.
type GraphFormat string

// The formats.
const (
	GraphAuto  GraphFormat = "auto"  // ell where few places would be empty, else csr
	GraphCSR   GraphFormat = "csr"   // node by node
	GraphELL   GraphFormat = "ell"   // slices of 8 nodes, each as wide as its longest
	GraphPELLR GraphFormat = "pellr" // nodes sorted by the number of incoming links, within windows, then as ell
)

// Weights says where the weights 1/O_i are.
type Weights string

// The places for weights.
const (
	// WeightsFolded divides the ranks by O_i once in each iteration, so that the
	// matrix has no values at all: 4 bytes a link instead of 12.
	WeightsFolded Weights = "folded"
	// WeightsStored keeps 1/O_i with each link, as the CPMS paper and its baseline do.
	WeightsStored Weights = "stored"
)

// PageRankOptions says how to rank. The zero value is right for almost everybody.
type PageRankOptions struct {
	Damping   float64   // between 0 and 1; 0 means 0.85
	Tol       float64   // positive; 0 means 1e-10
	MaxIter   int       // 0 means 1000
	Precision Precision // FP64 when ""
	// LeastBits is how many bits of each value are read first: 32, or 16 with CPMS4 as in
	// Table 2 of the CPMS paper; 0 means 32. The 4 bits of mantissa in 16 bits spoil a start
	// vector that is nearly right, so that most graphs need more iterations (docs/cpms.md).
	LeastBits int
	Format    GraphFormat // GraphAuto when ""
	Weights   Weights     // WeightsFolded when ""
	// WideIndices keeps 4 bytes for the node that a link comes from, as the CPMS paper
	// does. Otherwise 2 are enough in ell and pellr where nodes have numbers near to
	// those of their neighbours. It is for measuring; devices other than CPUs always
	// keep 4.
	WideIndices bool
	// Bank is that of cpms.Layout for stored weights: bytes of one kind of segment
	// that follow each other, or cpms.Separated (0). Vectors have no banks.
	Bank int
}

// fill replaces empty options by their defaults and checks the others.
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

// layout is how stored weights are cut.
func (o *PageRankOptions) layout() cpms.Layout {
	if o.Precision == CPMS4 {
		return cpms.Layout{Segments: 4, Bank: o.Bank}
	}
	return cpms.Layout{Segments: 2, Bank: o.Bank}
}

// linkForm is the form that CPU devices keep links in.
func (o *PageRankOptions) linkForm() kernels.Form {
	if o.Format == GraphCSR {
		return form.FormCPMSRows
	}
	return form.FormCPMSSlices
}

// segments is the number of segments of a value; 1 where values are not cut.
func (o *PageRankOptions) segments() int {
	if o.Precision == FP64 {
		return 1
	}
	return o.layout().Segments
}

// switchFactor is how many units of the access precision the difference may come close
// to before the next precision is due. With 4, no graph that was tried needs more
// than one iteration more than with fp64; with 2, some need two more (docs/cpms.md).
const switchFactor = 4

// threshold is the difference below which reading width bytes of each value shows
// too little.
func threshold(width int) float64 {
	if width == 8 {
		return 0
	}
	return switchFactor * math.Ldexp(1, 12-8*width)
}

// widths is the numbers of bytes that are read of each value, one after the other.
func (o *PageRankOptions) widths() (w []int) {
	step := 8 / o.segments()
	for b := max(step, o.LeastBits/8); b <= 8; b += step {
		w = append(w, b)
	}
	return w
}
