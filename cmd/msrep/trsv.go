package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
)

var trsvCommand = &command{
	name: "trsv", args: "MATRIX",
	summary: "solve op(T) x = b with a triangle T of a matrix",
	details: matrixHelp + "\nEntries outside the triangle are ignored. Without --lower and --upper the matrix must be triangular.",
	example: "msrep trsv matrix.mtx.gz --lower --unit --rhs random:1 --repeat 100 --out x.mtx",
	setup: func(c *call) func(context.Context) error {
		s := &trsv{call: c}
		f := c.flags
		f.BoolVar(&s.lower, "lower", false, "T is the lower triangle")
		f.BoolVar(&s.upper, "upper", false, "T is the upper triangle")
		f.BoolVar(&s.unit, "unit", false, "the diagonal of T is 1, whatever the matrix has there")
		f.BoolVar(&s.transpose, "transpose", false, "op(T) is the transpose of T")
		f.StringVar(&s.rhs, "rhs", "ones", "b, a `VECTOR`: a .mtx or .npy file, ones, random:SEED or sin (b[j] = sin(j+1))")
		f.StringVar(&s.value, "value", "fp64", "`TYPE` of values and vectors: fp64 or fp32")
		f.IntVar(&s.repeat, "repeat", 1, "solve `N` times; the time is the median")
		f.StringVar(&s.out, "out", "", "write x to `FILE`, as a Matrix Market array or (.npy) as NumPy does")
		return s.run
	},
}

type trsv struct {
	*call
	lower, upper, unit, transpose bool
	rhs, value, out               string
	repeat                        int
}

// triangleReport is the result that msrep trsv prints.
type triangleReport struct {
	Matrix        matrixName       `json:"matrix"`
	Triangle      string           `json:"triangle"` // lower or upper
	Unit          bool             `json:"unit"`
	Op            string           `json:"op"`
	Entries       int64            `json:"entries"` // of the triangle; the diagonal counts unless it is 1
	Levels        int              `json:"levels"`  // rows of the longest chain in which each depends on the one before
	Devices       []triangleDevice `json:"devices"`
	Phases        trianglePhases   `json:"phases"`
	GFlops        number           `json:"gflops"`         // 2 entries / solve_s
	BytesPerEntry number           `json:"bytes_per_nnz"`  // least traffic of a solve in CSR: T, b and x
	Residual      number           `json:"residual"`       // |b - op(T) x| / |b|
	BackwardError number           `json:"backward_error"` // the largest |b - op(T) x|[i] / (|b| + |op(T)| |x|)[i]
	X             norms            `json:"x"`
}

type triangleDevice struct {
	deviceName
	FirstRow int    `json:"first_row"`
	LastRow  int    `json:"last_row"`
	Form     string `json:"form,omitempty"`
	Why      string `json:"why,omitempty"`
	Bytes    int64  `json:"form_bytes,omitempty"`
}

// trianglePhases are times in seconds.
type trianglePhases struct {
	Read  float64 `json:"read_s"`
	Plan  float64 `json:"plan_s"`  // taking the triangle, and storing it on the devices
	Solve float64 `json:"solve_s"` // median of --repeat solves
	Total float64 `json:"total_s"` // reading, plan and one solve
}

// check refuses wrong flags before any file is read.
func (s *trsv) check() error {
	if err := s.want(1); err != nil {
		return err
	}
	if s.lower && s.upper {
		return usageError("--lower and --upper: name one triangle")
	}
	if err := (choice{"--value", s.value, []string{"fp64", "fp32"}}).check(); err != nil {
		return err
	}
	if s.repeat < 1 || s.repeat > maxRepeat {
		return sparse.Inputf("--repeat", "%d: use 1 to %d", s.repeat, maxRepeat)
	}
	if err := checkVectorSpec("--rhs", s.rhs); err != nil {
		return err
	}
	return s.checkOut(s.out, oneVector)
}

func (s *trsv) run(ctx context.Context) error {
	if err := s.check(); err != nil {
		return err
	}
	return s.onMatrix(ctx, s.out, msrep.Config{}, func(j *job) error {
		if err := s.chooseTriangle(j.m.CSR); err != nil {
			return err
		}
		if s.value == "fp32" {
			if err := checkSingle(s.args[0], j.m.CSR, 0); err != nil {
				return err
			}
			return solveTriangle(ctx, s, j, sparse.Convert[float32](j.m.CSR))
		}
		return solveTriangle(ctx, s, j, j.m.CSR)
	})
}

// chooseTriangle sets lower or upper if neither is given.
func (s *trsv) chooseTriangle(a *sparse.CSR[float64]) error {
	if a.Rows != a.Cols {
		return sparse.Inputf(s.args[0], "%d x %d: trsv needs a square matrix", a.Rows, a.Cols)
	}
	if s.lower || s.upper {
		return nil
	}
	below, above := false, false
	for row := range a.Rows {
		for _, col := range a.ColIdx[a.RowPtr[row]:a.RowPtr[row+1]] {
			below, above = below || int(col) < row, above || int(col) > row
		}
	}
	if below && above {
		return sparse.Inputf(s.args[0], "is not triangular: choose a triangle by --lower or --upper")
	}
	s.upper, s.lower = above, !above
	return nil
}

// solveTriangle makes the plan, solves and reports.
func solveTriangle[V sparse.Value](ctx context.Context, s *trsv, j *job, a *sparse.CSR[V]) error {
	rhs, err := s.readVector(ctx, "--rhs", s.rhs, a.Rows)
	if err != nil {
		return err
	}
	b, err := convert[V]("--rhs", rhs)
	if err != nil {
		return err
	}
	x, err := newVector[V]("--out", a.Rows)
	if err != nil {
		return err
	}
	s.progress.doing("planning", nil)
	begin := time.Now()
	t, err := msrep.NewTriangular(ctx, j.sys, a, msrep.TriangularOptions{Upper: s.upper, Unit: s.unit})
	if err != nil {
		return err
	}
	defer t.Close()
	op := msrep.Transpose(s.transpose)
	if s.transpose { // stores the transposed triangle
		if err := t.Solve(ctx, op, 1, b, x); err != nil {
			return err
		}
	}
	r := s.newReport(j, a.NNZ(), t.Info())
	r.Phases.Plan = time.Since(begin).Seconds()
	times := make([]time.Duration, s.repeat)
	solves := count{total: int64(s.repeat)}
	s.progress.doing("solving", solves.part)
	for i := range times {
		begin := time.Now()
		if err := t.Solve(ctx, op, 1, b, x); err != nil {
			return err
		}
		times[i] = time.Since(begin)
		solves.done.Add(1)
	}
	r.Phases.Solve = median(times)
	r.Phases.Total = r.Phases.Read + r.Phases.Plan + r.Phases.Solve
	if r.Entries > 0 {
		size := mem.Size[V]()
		r.GFlops = number(2 * float64(r.Entries) / r.Phases.Solve * 1e-9)
		r.BytesPerEntry = number(float64((4+size)*r.Entries+8*int64(a.Rows+1)+2*size*int64(a.Rows)) / float64(r.Entries))
	}
	r.Residual, r.BackwardError = s.residuals(sparse.Convert[float64](a), wide(b), wide(x))
	r.X = normsOf(x)
	if err := writeVector(s.out, j.out, x, nil); err != nil {
		return err
	}
	if s.json {
		return s.printJSON(r)
	}
	return r.print(s.stdout)
}

// wide returns v in float64.
func wide[V sparse.Value](v []V) []float64 {
	out := make([]float64, len(v))
	for i := range v {
		out[i] = float64(v[i])
	}
	return out
}

// newReport returns the fields that are known before the solve.
func (s *trsv) newReport(j *job, nnz int64, info msrep.TriangularInfo) *triangleReport {
	r := &triangleReport{Matrix: matrixName{shortName(s.args[0]), info.Rows, info.Rows, nnz}, Triangle: "lower", Unit: s.unit, Op: "T",
		Entries: info.Entries, Levels: info.Levels}
	if s.upper {
		r.Triangle = "upper"
	}
	if s.transpose {
		r.Op = "T'"
	}
	for i, d := range j.sys.Devices() {
		p := info.Devices[i]
		r.Devices = append(r.Devices, triangleDevice{nameOf(d), info.Cuts[i], info.Cuts[i+1] - 1, string(p.Form), p.Why, p.Bytes})
	}
	r.Phases.Read = j.read.Seconds()
	return r
}

// residuals returns the residual of op(T) x = b and the largest error of an element relative to the terms of its row.
func (s *trsv) residuals(a *sparse.CSR[float64], b, x []float64) (residual, backward number) {
	rest, size := make([]float64, len(b)), make([]float64, len(b))
	subtract := func(row, col int, v float64) {
		if s.transpose {
			row, col = col, row
		}
		rest[row] -= v * x[col]
		size[row] += math.Abs(v * x[col])
	}
	for i, v := range b {
		rest[i], size[i] = v, math.Abs(v)
	}
	for row := range a.Rows {
		for k := a.RowPtr[row]; k < a.RowPtr[row+1]; k++ {
			if col := int(a.ColIdx[k]); col == row && !s.unit || col != row && s.upper == (col > row) {
				subtract(row, col, a.Val[k])
			}
		}
		if s.unit {
			subtract(row, row, 1)
		}
	}
	worst := 0.0
	for i, v := range rest {
		if e := math.Abs(v) / size[i]; v != 0 && !(e <= worst) {
			worst = e
		}
	}
	if n := float64(normsOf(b).Norm2); n > 0 {
		residual = number(float64(normsOf(rest).Norm2) / n)
	}
	return residual, number(worst)
}

func (r *triangleReport) print(w io.Writer) error {
	p, unit := r.Phases, ""
	if r.Unit {
		unit = ", unit diagonal"
	}
	fmt.Fprintf(w, "%s  %d x %d, %d nonzeros\n%s x = b  T: %s triangle%s, %d entries, %d levels\n", r.Matrix.Name, r.Matrix.Rows, r.Matrix.Cols, r.Matrix.NNZ,
		r.Op, r.Triangle, unit, r.Entries, r.Levels)
	for _, d := range r.Devices {
		fmt.Fprintf(w, "  %-6s %s", d.ID, span("rows", d.FirstRow, d.LastRow))
		if d.Form != "" {
			fmt.Fprintf(w, ", form %s: %s", d.Form, d.Why)
		}
		fmt.Fprintln(w)
	}
	if len(r.Devices) > 0 && r.Devices[0].Kind == "sim" {
		fmt.Fprintln(w, "  times of the interpreter, not of a GPU")
	}
	fmt.Fprintf(w, "phases  read %s  plan %s  solve %s  total %s\n", seconds(p.Read), seconds(p.Plan), seconds(p.Solve), seconds(p.Total))
	if r.Entries > 0 {
		rate := float64(r.Entries) / p.Solve / 1e9
		fmt.Fprintf(w, "solve %s  %.3f GFLOP/s  %s\n", seconds(p.Solve), 2*rate, traffic(true, float64(r.BytesPerEntry)*rate, float64(r.BytesPerEntry)))
	}
	_, err := fmt.Fprintf(w, "relative residual %.3g, backward error %.3g\nx  norm1 %.17g  norm2 %.17g  sum %.17g\n", float64(r.Residual), float64(r.BackwardError), r.X.Norm1, r.X.Norm2, r.X.Sum)
	return err
}
