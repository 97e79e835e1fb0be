package bench

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cuda/launch"
	"github.com/msrep-go/msrep/kernels/ptx"
	"github.com/msrep-go/msrep/kernels/sim"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/ellpack"
	"github.com/msrep-go/msrep/sparse/matio"
	"github.com/msrep-go/msrep/sparse/stats"
)

// PELLR compares the formats of the PELLR paper (its Figures 6 and 8 to 12): times on
// a CPU device, and what the kernels for GPUs do on the interpreter, which stands in
// for times where no GPU is at hand: figures of the kernels, not of a machine.
type PELLR struct {
	Paths   []string // files of matrices; those with complex values are passed over
	Threads int      // of the CPU device, 0 for all
	// Interpreted is the most steps of threads, waiting ones with them, of a product that
	// the interpreter is given; 0 means 4 million.
	Interpreted int64
}

// pellrFormats is the formats of Figure 12 and sell. csr is our own kernel.
func pellrFormats() []sparse.Format {
	rivals := []sparse.Format{sparse.Format(launch.FormCSRScalar), sparse.Format(launch.FormCSRVector), sparse.FormatCSR}
	return append(rivals, ellpack.Formats()...)
}

// PELLRRow is one matrix in one format.
type PELLRRow struct {
	Matrix    string
	Rows      int
	NNZ       int64
	Mean      float64 // ave of Table 1
	StdDev    float64 // sigma
	Spread    int64   // max - min
	Format    sparse.Format
	Nanos     float64 // of a product on the CPU; NaN where there is none
	Sectors   int64   // of 32 bytes that the kernels ask for; 0 where not interpreted
	Distinct  int64   // of those, each once for each block: what the first-level cache lets through
	Instructs int64   // instructions of warps
}

// Run measures all matrices and writes a line for each matrix and format, matrices by
// sigma, as comma-separated values with a header.
func (p PELLR) Run(ctx context.Context, w io.Writer) error {
	rows, err := p.Measure(ctx)
	if err != nil {
		return err
	}
	out := csv.NewWriter(w)
	lines := [][]string{{"matrix", "rows", "nnz", "ave", "sigma", "max-min", "format", "cpu_ns", "gpu_sectors", "gpu_distinct_sectors", "gpu_warp_instructions"}}
	for _, r := range rows {
		lines = append(lines, []string{
			r.Matrix, fmt.Sprint(r.Rows), fmt.Sprint(r.NNZ), fmt.Sprintf("%.6g", r.Mean), fmt.Sprintf("%.6g", r.StdDev), fmt.Sprint(r.Spread),
			string(r.Format), number(r.Nanos), number(float64(r.Sectors)), number(float64(r.Distinct)), number(float64(r.Instructs)),
		})
	}
	return out.WriteAll(lines)
}

// number is a figure, or nothing where there is none.
func number(v float64) string {
	if v == 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return ""
	}
	return fmt.Sprintf("%.0f", v)
}

// Measure gives the figures of all matrices, by sigma and then in the order of the
// formats.
func (p PELLR) Measure(ctx context.Context) ([]PELLRRow, error) {
	sys, err := msrep.Open(msrep.Config{Devices: "cpu:1", Threads: p.Threads})
	if err != nil {
		return nil, err
	}
	defer sys.Close()
	var all []PELLRRow
	for _, path := range p.Paths {
		m, err := matio.Read(ctx, path)
		if sparse.IsInput(err) && strings.Contains(err.Error(), "complex") {
			continue
		}
		if err != nil {
			return nil, err
		}
		rows, err := p.matrix(ctx, sys, m)
		if err = errors.Join(err, m.Close()); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		all = append(all, rows...)
	}
	slices.SortStableFunc(all, func(a, b PELLRRow) int {
		switch {
		case a.StdDev < b.StdDev:
			return -1
		case a.StdDev > b.StdDev:
			return 1
		}
		return strings.Compare(a.Matrix, b.Matrix)
	})
	return all, nil
}

func (p PELLR) matrix(ctx context.Context, sys *msrep.System, m *matio.Matrix) ([]PELLRRow, error) {
	s := stats.Of(m.CSR)
	formats := pellrFormats()
	timed := formats[2:] // the rivals are kernels for GPUs
	times, err := timeFormats(ctx, sys, m.CSR, timed)
	if err != nil {
		return nil, err
	}
	limit := p.Interpreted
	if limit == 0 {
		limit = 4 << 20
	}
	name, _, _ := strings.Cut(filepath.Base(m.Name), ".")
	var rows []PELLRRow
	for i, f := range formats {
		r := PELLRRow{
			Matrix: name, Rows: s.Rows, NNZ: s.NNZ, Mean: s.Row.Mean, StdDev: s.Row.StdDev, Spread: s.Row.Max - s.Row.Min,
			Format: f, Nanos: math.NaN(),
		}
		if i >= 2 {
			r.Nanos = times[i-2].Product
		}
		if threadSteps(&s, f) <= limit {
			if err := r.interpret(m.CSR); err != nil {
				return nil, err
			}
		}
		rows = append(rows, r)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// threadSteps is 32 for each step of a warp. The rivals take those of csr at most.
func threadSteps(s *stats.Stats, f sparse.Format) int64 {
	c, ok := s.Formats[string(f)]
	if !ok {
		c = s.Formats[string(sparse.FormatCSR)]
	}
	if c.Bytes > maxInterpretedBytes {
		return math.MaxInt64
	}
	return ellpack.WarpHeight * *c.WarpIterations
}

// maxInterpretedBytes bounds the memory of a format on the interpreter.
const maxInterpretedBytes = 256 << 20

// interpret counts what the kernels of the format do for one product.
func (r *PELLRRow) interpret(a *sparse.CSR[float64]) (err error) {
	d, err := sim.Open(sim.Config{Unchecked: true, Trace: func(_ string, c ptx.Counters) {
		t := c.Total()
		r.Sectors += t.LoadSectors + t.StoreSectors + t.AtomicSectors
		for _, b := range c.Buffers {
			r.Distinct += b.DistinctSectors + b.StoreSectors + b.AtomicSectors
		}
		r.Instructs += c.WarpInstructions
	}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	parts, err := partition.ByNNZ(a.RowPtr, 1)
	if err != nil {
		return err
	}
	packed, err := d.Pack(&kernels.Packing[float64]{
		Part: parts[0], Ptr: a.RowPtr, Idx: a.ColIdx, Val: a.Val, Minors: a.Cols, Form: kernels.Form(r.Format),
	})
	if sparse.IsInput(err) {
		return nil // padding takes too much
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, packed.Free()) }()
	s, err := d.NewStream()
	if err != nil {
		return err
	}
	x, err := kernels.NewArray[float64](d, int64(a.Cols))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, x.Free()) }()
	y, err := kernels.NewArray[float64](d, int64(a.Rows))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, y.Free()) }()
	r.Sectors, r.Distinct, r.Instructs = 0, 0, 0 // of packing
	return s.Launch(&kernels.GatherPacked[float64]{A: packed, Alpha: 1, X: x, Y: y})
}
