package stats

import (
	"math"

	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/ellpack"
)

// cpuCost is what a format costs on a core, in nanoseconds for each step of a warp
// (N_iter), operation (N_p) and row.
type cpuCost struct{ step, work, row float64 }

// cpuCosts are fitted to the times of every second one of 209 real matrices in the caches
// of one core of a Zen 5, by the least sum of absolute relative errors without negative
// numbers (go test -run - -bench Formats ./bench measures them). csr and sell run in assembly, the others in plain Go.
var cpuCosts = map[sparse.Format]cpuCost{
	sparse.FormatCSR:        {step: 0.80, work: 0.11, row: 1.0},
	sparse.FormatCOO:        {work: 0.41, row: 2.3},
	ellpack.FormatELL:       {work: 0.38, row: 0.59},
	ellpack.FormatELLR:      {step: 16, work: 0.06, row: 1.9},
	ellpack.FormatPELLR:     {step: 4.7, work: 0.21, row: 2.3},
	ellpack.FormatPELLRWarp: {step: 4.4, work: 0.38, row: 1.1},
	ellpack.FormatBiELL:     {step: 22, work: 0.04, row: 3.4},
	ellpack.FormatJAD:       {step: 2.5, work: 0.60, row: 1.4},
	ellpack.FormatBiJAD:     {step: 3.4, work: 0.35, row: 3.5},
	ellpack.FormatHYB:       {work: 0.38, row: 0.80},
	ellpack.FormatHYBMean:   {work: 0.38, row: 0.84},
	ellpack.FormatSELL:      {step: 0.89, work: 0.06, row: 0.36},
}

// Of that machine: its last cache, and what a core reads at least from memory in a nanosecond.
const (
	cpuCache  = 32 << 20
	cpuMemory = 25
)

// sellPadding bounds the padding of sell for each entry: slices of CPU devices are lower
// than a warp, and long rows are cut into pieces there.
const sellPadding = 0.005

// nanoseconds is how long a product takes in a format, by the model of Recommend.
func (s *Stats) nanoseconds(f sparse.Format) float64 {
	c, o := s.Formats[string(f)], cpuCosts[f]
	t := o.row * float64(s.Rows)
	if c.Work != nil {
		t += o.step*float64(*c.WarpIterations) + o.work*float64(*c.Work)
	} else {
		t += o.work * float64(2*s.NNZ-int64(s.Rows)+s.EmptyRows) // coo: N_p of its rows
	}
	bytes := s.productBytes(f)
	if f == ellpack.FormatSELL {
		bytes -= (indexBytes + s.valueBytes()) * max(0, float64(c.Padding)-sellPadding*float64(s.NNZ))
	}
	return max(t, (bytes-cpuCache)/cpuMemory)
}

// gpuCost is the instructions of warps that a kernel takes for each step (N_iter),
// operation (N_p) and warp, and once.
type gpuCost struct{ step, work, warp, once float64 }

// gpuCosts are fitted to what the interpreter of PTX counts of float64 products with
// every second one of 406 matrices (go test -run Recommendation ./bench compares them).
var gpuCosts = map[sparse.Format]gpuCost{
	sparse.FormatCSR:        {step: 3.3, work: 0.6, warp: 194, once: 28}, // a row is shared by 2 to 32 threads
	ellpack.FormatELL:       {step: 15.4, warp: 82},
	ellpack.FormatELLR:      {step: 16, warp: 80.5},
	ellpack.FormatPELLR:     {step: 16, warp: 83.4},
	ellpack.FormatPELLRWarp: {step: 18, warp: 86.4},
	ellpack.FormatBiELL:     {step: 14.3, warp: 241},
	ellpack.FormatBiJAD:     {step: 14.1, warp: 235},
	ellpack.FormatJAD:       {step: 21.1, warp: 67.6},
	ellpack.FormatSELL:      {step: 12.4, warp: 82.2},
}

// instructionBytes is how many bytes an H100 reads in the time of a warp instruction:
// csrv, bound by instructions, took 169 us for 105 M of them on a 7-point stencil, where
// ell read at 0.9 of the copy bandwidth (bench/results/2026-11-26-h100).
const instructionBytes = 5.3

// gpuBytes is what a product costs in a format, by the model of RecommendGPU.
func (s *Stats) gpuBytes(f sparse.Format) float64 {
	o, known := gpuCosts[f]
	if !known {
		return math.Inf(1)
	}
	c := s.Formats[string(f)]
	instructions := o.step*float64(*c.WarpIterations) + o.work*float64(*c.Work) + o.warp*float64(warps(int64(s.Rows))) + o.once
	return max(s.productBytes(f), instructionBytes*instructions)
}

// longRow is how many times as long as the steps of the mean warp the longest row may be.
const longRow = 32

// hasLongRow says whether a GPU would wait for one row in most formats.
func (s *Stats) hasLongRow() bool {
	steps := s.Formats["csr"].WarpIterations
	return steps != nil && float64(s.Row.Max)*float64(warps(int64(s.Rows))) > longRow*float64(*steps)
}

// valueBytes is the size of a value.
func (s *Stats) valueBytes() float64 {
	return float64(s.Formats["coo"].Bytes)/float64(max(s.NNZ, 1)) - 2*indexBytes
}

// productBytes is what a product reads and writes in a format: the places that it visits,
// the arrays beside them, y, and each element of x that it needs: once, or twice where rows
// are sorted, as rows that share elements of x then lie apart.
func (s *Stats) productBytes(f sparse.Format) float64 {
	value := s.valueBytes()
	c := s.Formats[string(f)]
	nnz, padded := float64(s.NNZ), float64(s.NNZ)+float64(c.Padding)
	steps := nnz
	if c.WarpIterations != nil {
		steps = ellpack.WarpHeight * float64(*c.WarpIterations)
	}
	beside := max(0, float64(c.Bytes)-padded*(indexBytes+value)) // 0 where sizes pass 2^63-1
	places, x := padded, 2*value
	switch f {
	case sparse.FormatCSR, sparse.FormatCOO, ellpack.FormatELL, ellpack.FormatHYB, ellpack.FormatHYBMean:
		x = value
	case ellpack.FormatELLR: // a sector that one thread needs has places of threads that wait: about half of these
		places, x = (nnz+steps)/2, value
	case ellpack.FormatPELLR:
		places = nnz
	case ellpack.FormatPELLRWarp:
		places = steps
	}
	return places*(indexBytes+value) + beside + value*float64(s.Rows) + x*min(float64(s.Cols), nnz)
}
