package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"

	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/internal/stats"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/ellpack"
	"github.com/msrep-go/msrep/sparse/matio"
)

// PELLR compares the formats of the PELLR paper (its Figures 6 and 8 to 12) by times on a device and by the counts of
// the interpreter of GPU kernels. The counts describe the kernels, not a machine, and replace times where no GPU is
// available.
type PELLR struct {
	// Paths are matrix files or generator specs.
	Paths []string
	// Names gives names to generator specs. A spec without one is its own name.
	Names map[string]string
	// Filter reports whether a matrix takes part; nil takes all. Matrices with complex values are always left out.
	Filter func(name string, m *matio.Matrix) bool
	// Devices are the timed devices, as in msrep.Config; "" times nothing.
	Devices string
	Threads int // of CPU devices; 0 for all
	// Before runs before each timed product, to empty the caches. With nil, a product finds the caches as the last
	// one left them.
	Before func()
	// Interpreted is the limit of the steps of threads, waiting threads included, of a product that is interpreted. 0
	// means 4 million; with a negative number nothing is interpreted.
	Interpreted int64
	// Step, if not nil, is called before each matrix with its index, the number of matrices and its name. An error of
	// Step ends the run.
	Step func(done, total int, name string) error
}

// pellrRivals are the formats of Figure 12 that sparse/ellpack lacks. csr is our kernel, cucsr that of cuSPARSE.
var pellrRivals = []sparse.Format{formatCSRS, formatCSRV, formatCuCSR, sparse.FormatCSR}

// PELLRFormats lists the formats in the order of the results.
func PELLRFormats() []sparse.Format { return append(slices.Clone(pellrRivals), ellpack.Formats()...) }

// Sources of a matrix or its values other than a file.
const (
	Generated    = "generated"
	RandomValues = "random values" // the file has no values, or integers
)

// PELLRMatrix is a matrix with the parameters of the paper's Table 1 and the cost of each format.
type PELLRMatrix struct {
	Name   string
	Source string // Generated, RandomValues, or "" for the contents of a file
	Rows   int
	NNZ    int64
	Mean   float64 // ave
	StdDev float64 // sigma
	Spread int64   // max - min
	Runs   []FormatRun
}

// FormatRun is a matrix in one format.
type FormatRun struct {
	Format sparse.Format
	// Rounds are the seconds of a product in each round, NaN in rounds that skipped the format; nil if the format was
	// not timed or refused the matrix.
	Rounds  []float64
	Bytes   int64 // bytes of the format's arrays and of both vectors
	Counted       // zero if not interpreted
}

// Samples returns the rounds that did not skip the format.
func (r FormatRun) Samples() []float64 { return known(r.Rounds) }

// Run returns the results of a format, and false if there are none.
func (m *PELLRMatrix) Run(f sparse.Format) (FormatRun, bool) {
	i := slices.IndexFunc(m.Runs, func(r FormatRun) bool { return r.Format == f })
	if i < 0 {
		return FormatRun{}, false
	}
	return m.Runs[i], true
}

// Measure returns the results of all matrices, sorted by sigma.
func (p PELLR) Measure(ctx context.Context) (all []PELLRMatrix, err error) {
	timer := formatTimer{before: p.Before, patient: true, kernels: strings.HasPrefix(p.Devices, "cuda")}
	if p.Devices != "" {
		if timer.sys, err = msrep.Open(msrep.Config{Devices: p.Devices, Threads: p.Threads}); err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, timer.sys.Close()) }()
	}
	for i, path := range p.Paths {
		name, source := cmp.Or(p.Names[path], MatrixName(path)), ""
		if strings.HasPrefix(path, "gen:") {
			source = Generated
		}
		if p.Step != nil {
			if err := p.Step(i, len(p.Paths), name); err != nil {
				return nil, err
			}
		}
		m, err := matio.Read(ctx, path)
		if errors.Is(err, sparse.ErrComplex) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if p.Filter == nil || p.Filter(name, m) {
			a := m.CSR
			if m.Source.Field != sparse.Real {
				a, source = withRandomValues(a), cmp.Or(source, RandomValues)
			}
			var one PELLRMatrix
			if one, err = p.matrix(ctx, timer, name, a); err == nil {
				one.Source = source
				all = append(all, one)
			}
		}
		if err = errors.Join(err, m.Close()); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	slices.SortStableFunc(all, func(a, b PELLRMatrix) int {
		return cmp.Or(cmp.Compare(a.StdDev, b.StdDev), strings.Compare(a.Name, b.Name))
	})
	return all, nil
}

// withRandomValues returns the matrix with random values in [-1, 1), the same in each run. With the values of
// patterns and integer matrices, forms would store no or few values.
func withRandomValues(a *sparse.CSR[float64]) *sparse.CSR[float64] {
	out := *a
	out.Val = make([]float64, len(a.Val))
	rng := rand.New(rand.NewPCG(1, 2))
	for k := range out.Val {
		out.Val[k] = 2*rng.Float64() - 1
	}
	return &out
}

func (p PELLR) matrix(ctx context.Context, timer formatTimer, name string, a *sparse.CSR[float64]) (PELLRMatrix, error) {
	s := stats.Of(a)
	out := PELLRMatrix{Name: name, Rows: s.Rows, NNZ: s.NNZ, Mean: s.Row.Mean, StdDev: s.Row.StdDev, Spread: s.Row.Max - s.Row.Min}
	for _, f := range PELLRFormats() {
		out.Runs = append(out.Runs, FormatRun{Format: f, Bytes: productBytes(&s, f)})
	}
	if timer.sys != nil {
		timed := out.Runs
		if !timer.kernels {
			timed = timed[len(pellrRivals)-1:] // the other rivals are GPU kernels
		}
		formats := make([]sparse.Format, len(timed))
		for i, r := range timed {
			formats[i] = r.Format
		}
		times, err := timer.time(ctx, a, formats)
		if err != nil {
			return out, err
		}
		for i, t := range times {
			timed[i].Rounds = t.Rounds
		}
	}
	limit := p.Interpreted
	if limit == 0 {
		limit = 4 << 20
	}
	errs, slots := make([]error, len(out.Runs)), make(chan struct{}, runtime.GOMAXPROCS(0))
	par.Do(len(out.Runs), func(i int) {
		slots <- struct{}{}
		defer func() { <-slots }()
		r := &out.Runs[i]
		switch {
		case ctx.Err() != nil:
			errs[i] = ctx.Err()
		case r.Format != formatCuCSR && threadSteps(&s, r.Format) <= limit:
			errs[i] = r.interpret(a)
		}
	})
	return out, errors.Join(errs...)
}

// formatCost returns the cost of a format for the matrix; the rivals cost the same as csr.
func formatCost(s *stats.Stats, f sparse.Format) stats.Cost {
	if c, ok := s.Formats[string(f)]; ok {
		return c
	}
	return s.Formats[string(sparse.FormatCSR)]
}

// productBytes returns the bytes of the format's arrays and of both vectors, at most 2^63-1.
func productBytes(s *stats.Stats, f sparse.Format) int64 {
	vectors := 8 * int64(s.Rows+s.Cols)
	return min(formatCost(s, f).Bytes, math.MaxInt64-vectors) + vectors
}

// threadSteps returns 32 for each step of a warp. The rivals take at most as many as csr.
func threadSteps(s *stats.Stats, f sparse.Format) int64 {
	c := formatCost(s, f)
	if c.Bytes > maxInterpretedBytes {
		return math.MaxInt64
	}
	return ellpack.WarpHeight * *c.WarpIterations
}

// maxInterpretedBytes is the limit of a format's memory on the interpreter.
const maxInterpretedBytes = 256 << 20
