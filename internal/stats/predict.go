package stats

import (
	"math"

	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/ellpack"
)

// cpuCost is the cost of a format on a CPU core, in nanoseconds per warp step (N_iter),
// per operation (N_p) and per row.
type cpuCost struct{ step, work, row float64 }

// cpuCosts are fitted to measured times (go test -run - -bench Formats ./bench) of every
// second one of 209 real matrices in the caches of one Zen 5 core. The fit minimises the
// sum of absolute relative errors without negative costs. csr and sell run in assembly,
// the others in plain Go.
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

// The size of the last-level cache of that machine, and a lower bound of the bytes that
// one core reads from memory per nanosecond.
const (
	cpuCache  = 32 << 20
	cpuMemory = 25
)

// sellPadding is the padding of sell per entry in the model. CPU devices pad less than
// Shape says: their slices have fewer rows than a warp, and they split long rows.
const sellPadding = 0.005

// nanoseconds returns the time of a product in a format, by the model of Recommend.
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

// gpuCost is the number of warp instructions of a kernel per step (N_iter), per operation
// (N_p), per warp, and per launch.
type gpuCost struct{ step, work, warp, once float64 }

// gpuCosts are fitted to the instruction counts of the PTX interpreter for float64
// products with every second one of 406 matrices (go test -run Recommendation ./bench
// compares them).
var gpuCosts = map[sparse.Format]gpuCost{
	sparse.FormatCSR:        {step: 3.3, work: 0.6, warp: 194, once: 28}, // 2 to 32 threads share a row
	ellpack.FormatELL:       {step: 15.4, warp: 82},
	ellpack.FormatELLR:      {step: 16, warp: 80.5},
	ellpack.FormatPELLR:     {step: 16, warp: 83.4},
	ellpack.FormatPELLRWarp: {step: 18, warp: 86.4},
	ellpack.FormatBiELL:     {step: 14.3, warp: 241},
	ellpack.FormatBiJAD:     {step: 14.1, warp: 235},
	ellpack.FormatJAD:       {step: 21.1, warp: 67.6},
	ellpack.FormatSELL:      {step: 12.4, warp: 82.2},
}

// instructionBytes is the number of bytes that an H100 reads in the time of one warp
// instruction. csrv, bound by instructions, took 169 us for 105 M instructions on a
// 7-point stencil, while ell read at 0.9 of the copy bandwidth
// (bench/results/2026-11-26-h100).
const instructionBytes = 5.3

// gpuBytes returns the cost of a product in a format, by the model of RecommendGPU.
func (s *Stats) gpuBytes(f sparse.Format) float64 {
	o, known := gpuCosts[f]
	if !known {
		return math.Inf(1)
	}
	c := s.Formats[string(f)]
	instructions := o.step*float64(*c.WarpIterations) + o.work*float64(*c.Work) + o.warp*float64(warps(int64(s.Rows))) + o.once
	return max(s.productBytes(f), instructionBytes*instructions)
}

// longRowRatio is the largest ratio of the longest row to the mean steps of a warp at
// which a GPU does not wait for one row.
const longRowRatio = 32

// hasLongRow reports whether a GPU would wait for one row in most formats.
func (s *Stats) hasLongRow() bool {
	steps := s.Formats["csr"].WarpIterations
	return steps != nil && float64(s.Row.Max)*float64(warps(int64(s.Rows))) > longRowRatio*float64(*steps)
}

// valueBytes returns the size of a value.
func (s *Stats) valueBytes() float64 {
	return float64(s.Formats["coo"].Bytes)/float64(max(s.NNZ, 1)) - 2*indexBytes
}

// productBytes returns the number of bytes that a product reads and writes in a format:
// the slots that it visits, the other arrays, y, and each element of x that it needs.
// Elements of x count twice in formats that sort rows, because rows that share elements
// of x are then far apart.
func (s *Stats) productBytes(f sparse.Format) float64 {
	value := s.valueBytes()
	c := s.Formats[string(f)]
	nnz, padded := float64(s.NNZ), float64(s.NNZ)+float64(c.Padding)
	steps := nnz
	if c.WarpIterations != nil {
		steps = ellpack.WarpHeight * float64(*c.WarpIterations)
	}
	beside := max(0, float64(c.Bytes)-padded*(indexBytes+value)) // 0 if a size exceeds 2^63-1
	places, x := padded, 2*value
	switch f {
	case sparse.FormatCSR, sparse.FormatCOO, ellpack.FormatELL, ellpack.FormatHYB, ellpack.FormatHYBMean:
		x = value
	case ellpack.FormatELLR: // a memory sector that one thread needs also holds slots of idle threads: about half of those
		places, x = (nnz+steps)/2, value
	case ellpack.FormatPELLR:
		places = nnz
	case ellpack.FormatPELLRWarp:
		places = steps
	}
	return places*(indexBytes+value) + beside + value*float64(s.Rows) + x*min(float64(s.Cols), nnz)
}
