package graph

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
	CPMS4 Precision = "cpms4" // 2 of 4 segments (32 bits), then 3, then all; see Options.LeastBits
)

// Format says how the links of a graph are stored.
type Format string

// These are the formats of graphs.
const (
	FormatAuto  Format = "auto"  // ell where its padding is at most a quarter of the links, else csr
	FormatCSR   Format = "csr"   // the incoming links of one node after the other
	FormatELL   Format = "ell"   // slices of 8 nodes, each padded to the node with the most incoming links
	FormatPELLR Format = "pellr" // ell, with the nodes sorted by the number of incoming links within windows
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

// Dangling says where the ranks of nodes without links go.
type Dangling string

// These are the targets of nodes without links.
const (
	DanglingTeleport Dangling = "teleport" // the nodes of Options.Teleport, as networkx does; all nodes where there is none
	DanglingUniform  Dangling = "uniform"  // all nodes alike
)

// Options controls PageRank. The zero value suits most uses.
type Options struct {
	Damping float64 // damping factor, above 0 and below 1; 0 means 0.85
	Tol     float64 // PageRank ends when the 1-norm of the difference of two iterates is below Tol; 0 means 1e-10
	MaxIter int     // largest number of iterations; 0 means 1000
	// Teleport is where the walk that PageRank describes starts anew, one number for each node: personalised
	// PageRank. The numbers must be finite and not negative; they are divided by their sum. nil means all nodes alike.
	Teleport []float64
	// Dangling is where the walk goes from a node without links. "" means DanglingTeleport.
	Dangling Dangling
	// Start is the first iterate, such as the ranks of the graph before it changed. It is scaled as Teleport is. nil
	// means Teleport, or all nodes alike.
	Start []float64
	// Weighted uses the values of the matrix as the weights of the links; see NewWeighted. Only the function PageRank
	// needs it: a Graph or an operator has weights or not.
	Weighted  bool
	Precision Precision // "" means FP64
	// Progress, unless nil, is called after each iteration with its number from 1 and the 1-norm of its difference.
	// PageRanks does not call it.
	Progress func(iteration int, difference float64)
	// LeastBits is the number of bits of each value that the first iterations read: 32, or 16 with CPMS4 as in
	// Table 2 of the CPMS paper; 0 means 32. With 16 bits, 4 of them mantissa, most graphs need more iterations,
	// because rounding moves the start vector away from the solution (docs/cpms.md).
	LeastBits int
	Format    Format  // "" means FormatAuto
	Weights   Weights // "" means WeightsFolded
	// WideIndices stores the source node of each link in 4 bytes, as the CPMS paper does. Otherwise ell and
	// pellr on CPU devices store it in 2 bytes where the source nodes have numbers near that of the target. It is
	// for measurements.
	WideIndices bool
	// Bank is cpms.Layout.Bank for stored weights: the number of consecutive bytes of one kind of segment, or
	// cpms.Separated (0). It does not apply to vectors.
	Bank int
}

// fill sets the defaults and checks the options.
func (o *Options) fill() error {
	o.Damping, o.Tol, o.MaxIter = cmp.Or(o.Damping, 0.85), cmp.Or(o.Tol, 1e-10), cmp.Or(o.MaxIter, 1000)
	o.LeastBits = cmp.Or(o.LeastBits, 32)
	o.Precision, o.Format, o.Weights = cmp.Or(o.Precision, FP64), cmp.Or(o.Format, FormatAuto), cmp.Or(o.Weights, WeightsFolded)
	o.Dangling = cmp.Or(o.Dangling, DanglingTeleport)
	switch {
	case !(o.Damping > 0 && o.Damping < 1):
		return sparse.Inputf("damping", "%g: it must be above 0 and below 1", o.Damping)
	case !(o.Tol > 0) || math.IsInf(o.Tol, 0):
		return sparse.Inputf("tolerance", "%g: it must be above 0 and finite", o.Tol)
	case o.MaxIter < 0:
		return sparse.Inputf("max iterations", "%d: use a positive number, or 0 for 1000", o.MaxIter)
	case o.Dangling != DanglingTeleport && o.Dangling != DanglingUniform:
		return sparse.Inputf("dangling", "%q is not known: use %s or %s", string(o.Dangling), DanglingTeleport, DanglingUniform)
	case o.Precision != FP64 && o.Precision != CPMS2 && o.Precision != CPMS4:
		return sparse.Inputf("precision", "%q is not known: use %s, %s or %s", string(o.Precision), FP64, CPMS2, CPMS4)
	case o.LeastBits != 16 && o.LeastBits != 32:
		return sparse.Inputf("least bits", "%d: use 16 or 32", o.LeastBits)
	case o.LeastBits == 16 && o.Precision != CPMS4:
		return sparse.Inputf("least bits", "16: only precision %s reads 16 bits, this is %s", CPMS4, o.Precision)
	case o.Format != FormatAuto && o.Format != FormatCSR && o.Format != FormatELL && o.Format != FormatPELLR:
		return sparse.Inputf("format", "%q is not known: use %s, %s, %s or %s", string(o.Format), FormatAuto, FormatCSR, FormatELL, FormatPELLR)
	case o.Weights != WeightsFolded && o.Weights != WeightsStored:
		return sparse.Inputf("weights", "%q is not known: use %s or %s", string(o.Weights), WeightsFolded, WeightsStored)
	}
	return o.layout().Check()
}

// checkVector returns an error if v, of the option with this name, is not nil and not a vector of n numbers that are
// finite and at least 0.
func checkVector(name string, v []float64, n int) error {
	if v != nil && len(v) != n {
		return sparse.Inputf(name, "%d numbers for %d nodes: give one for each node", len(v), n)
	}
	for i, w := range v {
		if !(w >= 0) || math.IsInf(w, 1) {
			return sparse.Inputf(name, "node %d has %g: a number must be finite and at least 0", i, w)
		}
	}
	return nil
}

// checkSum returns an error if a vector with this sum cannot be divided by it.
func checkSum(name string, sum float64) error {
	switch {
	case sum == 0:
		return sparse.Inputf(name, "all numbers are 0: at least one must be above 0")
	case math.IsInf(sum, 1):
		return sparse.Inputf(name, "the numbers have an infinite sum")
	}
	return nil
}

// scaled returns v divided by its sum; nil if v is nil.
func scaled(name string, v []float64, n int) ([]float64, error) {
	if err := checkVector(name, v, n); err != nil || v == nil || n == 0 {
		return nil, err
	}
	sum := 0.0
	for _, w := range v {
		sum += w
	}
	if err := checkSum(name, sum); err != nil {
		return nil, err
	}
	out := make([]float64, n)
	for i, w := range v {
		out[i] = w / sum
	}
	return out, nil
}

// restart returns what an iteration adds to the rank of node i: add + jump*v[i], where v is the scaled teleport vector
// and dangling the sum of the ranks of the nodes without links. n is the number of nodes.
func (o *Options) restart(dangling float64, n int) (add, jump float64) {
	lost, again := float64(o.Damping*dangling), 1-o.Damping
	switch {
	case o.Teleport == nil:
		return (lost + again) / float64(n), 0
	case o.Dangling == DanglingUniform:
		return lost / float64(n), again
	}
	return 0, lost + again
}

// layout returns the layout of stored weights.
func (o *Options) layout() cpms.Layout {
	if o.Precision == CPMS4 {
		return cpms.Layout{Segments: 4, Bank: o.Bank}
	}
	return cpms.Layout{Segments: 2, Bank: o.Bank}
}

// linkForm returns the form in which CPU devices store the links.
func (o *Options) linkForm() kernels.Form {
	if o.Format == FormatCSR {
		return cpu.SegmentedCSR
	}
	return cpu.SegmentedELL
}

// borrows reports whether CPU devices read the links where the Graph has them.
func (o *Options) borrows() bool { return o.Format == FormatCSR && o.Weights == WeightsFolded }

// segments returns the number of segments of a value; 1 for plain values.
func (o *Options) segments() int {
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
func (o *Options) widths() (w []int) {
	step := 8 / o.segments()
	for b := max(step, o.LeastBits/8); b <= 8; b += step {
		w = append(w, b)
	}
	return w
}
