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
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/ellpack"
	"github.com/msrep-go/msrep/sparse/matio"
	"github.com/msrep-go/msrep/sparse/stats"
)

// PELLR compares the formats of the PELLR paper (its Figures 6 and 8 to 12): times on
// a device, and what the kernels for GPUs do on the interpreter, which stands in for
// times where no GPU is at hand: figures of the kernels, not of a machine.
type PELLR struct {
	// Paths are files of matrices, or generator specs.
	Paths []string
	// Names are those of generator specs that have another name than the spec.
	Names map[string]string
	// Filter takes a matrix or passes it over; nil takes all. Matrices with complex
	// values are passed over without being asked about.
	Filter func(name string, m *matio.Matrix) bool
	// Devices are those that are timed, as msrep.Config has them; "" times nothing.
	Devices string
	Threads int // of CPU devices, 0 for all
	// Before is called before each product that is timed, to empty the caches; nil
	// leaves in them what the last product did.
	Before func()
	// Interpreted is the most steps of threads, waiting ones with them, of a product that
	// the interpreter is given; 0 means 4 million, a negative number none.
	Interpreted int64
	// Step, when not nil, is told before each matrix which of how many it is. Its error
	// ends the run.
	Step func(done, total int, name string) error
}

// pellrRivals are the formats of Figure 12 beside those of sparse/ellpack. csr is our
// own kernel, cucsr that of cuSPARSE.
var pellrRivals = []sparse.Format{formatCSRS, formatCSRV, formatCuCSR, sparse.FormatCSR}

// PELLRFormats lists the formats in the order of the results.
func PELLRFormats() []sparse.Format { return append(slices.Clone(pellrRivals), ellpack.Formats()...) }

// Where a matrix, or its values, come from, if not from a file.
const (
	Generated    = "generated"
	RandomValues = "random values" // the file has none, or integers
)

// PELLRMatrix is a matrix with the parameters of the paper's Table 1, and what its
// formats cost.
type PELLRMatrix struct {
	Name   string
	Source string // Generated, RandomValues, or "" for a file as it is
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
	// Rounds are the seconds of a product in each of the rounds in which formats take
	// turns, NaN where the format sat out; nil where it was not timed or was refused.
	Rounds  []float64
	Bytes   int64 // of the format's arrays and of both vectors
	Counted       // zero where not interpreted
}

// Samples are the rounds in which the format did not sit out.
func (r FormatRun) Samples() []float64 { return known(r.Rounds) }

// Run gives the figures of a format; false where there are none.
func (m *PELLRMatrix) Run(f sparse.Format) (FormatRun, bool) {
	i := slices.IndexFunc(m.Runs, func(r FormatRun) bool { return r.Format == f })
	if i < 0 {
		return FormatRun{}, false
	}
	return m.Runs[i], true
}

// Measure gives the figures of all matrices, by sigma.
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
		if sparse.IsInput(err) && strings.Contains(err.Error(), "complex") {
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

// withRandomValues is the matrix with values in [-1, 1), the same in each run. Patterns and
// integers would be multiplied by forms that keep no value, or few.
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
			timed = timed[len(pellrRivals)-1:] // the other rivals are kernels for GPUs
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

// formatCost is what the matrix costs in a format; the rivals are csr.
func formatCost(s *stats.Stats, f sparse.Format) stats.Cost {
	if c, ok := s.Formats[string(f)]; ok {
		return c
	}
	return s.Formats[string(sparse.FormatCSR)]
}

// productBytes are those of the format's arrays and of both vectors. Costs that would
// pass 2^63-1 are given as that.
func productBytes(s *stats.Stats, f sparse.Format) int64 {
	vectors := 8 * int64(s.Rows+s.Cols)
	return min(formatCost(s, f).Bytes, math.MaxInt64-vectors) + vectors
}

// threadSteps is 32 for each step of a warp. The rivals take those of csr at most.
func threadSteps(s *stats.Stats, f sparse.Format) int64 {
	c := formatCost(s, f)
	if c.Bytes > maxInterpretedBytes {
		return math.MaxInt64
	}
	return ellpack.WarpHeight * *c.WarpIterations
}

// maxInterpretedBytes bounds the memory of a format on the interpreter.
const maxInterpretedBytes = 256 << 20
