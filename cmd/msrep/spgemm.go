package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"time"

	"github.com/msrep-go/msrep/internal/source"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/matio"
)

var spgemmCommand = &command{
	name: "spgemm", args: "A [B]",
	summary: "multiply sparse matrices: C = op(A) op(B)",
	details: "A and B are given like MATRIX. B is A unless given.\n" + matrixHelp +
		"\nThe rows of C are sorted. C has an entry wherever products belong to it, even if they add to 0.",
	example: "msrep spgemm matrix.mtx.gz --transpose-a --out gram.mtx",
	setup: func(c *call) func(context.Context) error {
		s := &matrixProduct{call: c}
		f := c.flags
		f.BoolVar(&s.transposeA, "transpose-a", false, "op(A) is the transpose of A")
		f.BoolVar(&s.transposeB, "transpose-b", false, "op(B) is the transpose of B")
		f.StringVar(&s.value, "value", "fp64", "`TYPE` of values: fp64 or fp32")
		f.IntVar(&s.repeat, "repeat", 1, "compute C `N` times, then only its values N times; times are medians")
		f.StringVar(&s.out, "out", "", "write C to `FILE`; its extension sets the format")
		return s.run
	},
}

type matrixProduct struct {
	*call
	transposeA, transposeB bool
	value, out             string
	repeat                 int
}

// matrixProductReport is the result that msrep spgemm prints. A and B are op(A) and op(B).
type matrixProductReport struct {
	A               matrixName          `json:"a"`
	B               matrixName          `json:"b"`
	C               matrixName          `json:"c"`
	Multiplications int64               `json:"multiplications"`
	Compression     number              `json:"compression"` // multiplications / nnz of C
	Devices         []deviceName        `json:"devices"`
	Phases          matrixProductPhases `json:"phases"`
	GFlops          number              `json:"gflops"`       // 2 multiplications / product_s
	Rate            number              `json:"gb_per_s"`     // arrays of A, B and C / product_s
	Bytes           int64               `json:"device_bytes"` // memory on devices with their own memory
}

// matrixProductPhases are times in seconds.
type matrixProductPhases struct {
	Read      float64 `json:"read_s"`
	Convert   float64 `json:"convert_s"` // validating and transposing the matrices
	Analyze   float64 `json:"analyze_s"`
	Structure float64 `json:"structure_s"` // the columns of C
	Compute   float64 `json:"compute_s"`
	Product   float64 `json:"product_s"` // the sum of the four before
	Values    float64 `json:"values_s"`  // a product with new values only; 0 without --repeat
	Write     float64 `json:"write_s"`
	Total     float64 `json:"total_s"` // reading, one product, writing
}

func (s *matrixProduct) run(ctx context.Context) (err error) {
	if len(s.args) != 1 {
		if err := s.want(2); err != nil {
			return err
		}
	}
	if err := s.want(len(s.args)); err != nil { // empty arguments
		return err
	}
	if err := (choice{"--value", s.value, []string{"fp64", "fp32"}}).check(); err != nil {
		return err
	}
	if s.repeat < 1 || s.repeat > maxRepeat {
		return sparse.Inputf("--repeat", "%d: use 1 to %d", s.repeat, maxRepeat)
	}
	var file *matio.Output
	if s.out != "" {
		if file, err = matio.Create(s.out); err != nil {
			return err
		}
		defer file.Close()
	}
	return s.onMatrix(ctx, "", msrep.Config{}, func(j *job) (err error) {
		b := j.m
		if len(s.args) > 1 {
			begin := time.Now()
			if b, err = s.readMatrix(ctx, s.args[1]); err != nil {
				return err
			}
			defer func() { err = errors.Join(err, b.Close()) }()
			j.read += time.Since(begin)
		}
		if s.value == "fp32" {
			if err := checkSingle(s.args[0], j.m.CSR, 0); err != nil {
				return err
			}
			if err := checkSingle(s.args[len(s.args)-1], b.CSR, 0); err != nil {
				return err
			}
			return multiplyMatrices(ctx, s, j, b, file, sparse.Convert[float32](j.m.CSR), sparse.Convert[float32](b.CSR))
		}
		return multiplyMatrices(ctx, s, j, b, file, j.m.CSR, b.CSR)
	})
}

// turned returns a, or its transpose as CSC.
func turned[V sparse.Value](a *sparse.CSR[V], transpose bool) sparse.Matrix[V] {
	if transpose {
		return a.Transpose()
	}
	return a
}

// multiplyMatrices multiplies, writes C to file unless it is nil, and reports.
func multiplyMatrices[V sparse.Value](ctx context.Context, s *matrixProduct, j *job, mb *matio.Matrix, file *matio.Output, csrA, csrB *sparse.CSR[V]) error {
	a, b := turned(csrA, s.transposeA), turned(csrB, s.transposeB)
	if err := s.fit(a, b); err != nil {
		return err
	}
	s.progress.doing("multiplying", nil)
	var c *sparse.CSR[V]
	r := &matrixProductReport{A: s.nameOf(0, a), B: s.nameOf(len(s.args)-1, b), Devices: namesOf(j.sys.Devices())}
	// The collector lets a heap of up to 4 MB grow to no more than that, so it would run in every second small product, and
	// stop the workers each time. With this array it waits for 8 MB more. The array is never written, so it takes no memory.
	defer runtime.KeepAlive(make([]byte, 8<<20))
	var times [5][]time.Duration
	for i := range s.repeat {
		c = nil
		p, err := msrep.NewMatrixProduct(ctx, j.sys, a, b)
		if err != nil {
			return err
		}
		c = p.Result()
		info := p.Info()
		for k, d := range []time.Duration{info.Timing.Convert, info.Timing.Analyze, info.Timing.Structure, info.Timing.Compute, info.Timing.Total} {
			times[k] = append(times[k], d)
		}
		r.Multiplications, r.Bytes = info.Multiplications, info.Bytes
		if i == s.repeat-1 && s.repeat > 1 {
			r.Phases.Values, err = timeValues(ctx, p, s.repeat)
		}
		if err := errors.Join(err, p.Close()); err != nil {
			return err
		}
	}
	r.C = matrixName{"C", c.Rows, c.Cols, c.NNZ()}
	if c.NNZ() > 0 {
		r.Compression = number(float64(r.Multiplications) / float64(c.NNZ()))
	}
	t := &r.Phases
	t.Read, t.Convert, t.Analyze, t.Structure, t.Compute, t.Product = j.read.Seconds(), median(times[0]), median(times[1]), median(times[2]), median(times[3]), median(times[4])
	if t.Product > 0 {
		r.GFlops = number(2 * float64(r.Multiplications) / t.Product * 1e-9)
		r.Rate = number(float64(csrA.Bytes()+csrB.Bytes()+c.Bytes()) / t.Product * 1e-9)
	}
	if file != nil {
		begin := time.Now()
		s.progress.doing("writing "+s.out, nil)
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := file.Write(sparse.Convert[float64](c), fieldOf(j.m, mb, c)); err != nil {
			return err
		}
		t.Write = time.Since(begin).Seconds()
	}
	t.Total = t.Read + t.Product + t.Write
	if s.json {
		return s.printJSON(r)
	}
	if s.quiet {
		return nil
	}
	return r.print(s.stdout)
}

// fit refuses shapes that do not fit, with the names of the files.
func (s *matrixProduct) fit(a, b interface{ Dims() (rows, cols int) }) error {
	_, cols := a.Dims()
	rows, _ := b.Dims()
	if rows == cols {
		return nil
	}
	return sparse.Inputf(s.args[len(s.args)-1], "op(B) has %d rows, but op(A) has %d columns: they must be equal (see --transpose-a, --transpose-b)", rows, cols)
}

// nameOf describes the matrix of argument i.
func (s *matrixProduct) nameOf(i int, m interface {
	Dims() (rows, cols int)
	NNZ() int64
}) matrixName {
	rows, cols := m.Dims()
	return matrixName{shortName(s.args[i]), rows, cols, m.NNZ()}
}

// timeValues computes the values of p repeat times and returns the median of the times in seconds.
func timeValues[V sparse.Value](ctx context.Context, p *msrep.MatrixProduct[V], repeat int) (float64, error) {
	times := make([]time.Duration, repeat)
	for i := range times {
		if err := p.UpdateValues(ctx, nil, nil); err != nil {
			return 0, err
		}
		times[i] = p.Info().Timing.Total
	}
	return median(times), nil
}

// fieldOf describes C for its file: its field is integer if those of A and B are, and its values are.
func fieldOf[V sparse.Value](a, b *matio.Matrix, c *sparse.CSR[V]) sparse.Source {
	field := sparse.Real
	if a.Source.Field != sparse.Real && b.Source.Field != sparse.Real {
		field = source.Field(sparse.Convert[float64](c).Val, sparse.Integer)
	}
	return sparse.Source{Field: field, Symmetry: sparse.General, Stored: c.NNZ()}
}

func (r *matrixProductReport) print(w io.Writer) error {
	for _, m := range []struct {
		letter string
		matrixName
	}{{"A", r.A}, {"B", r.B}} {
		fmt.Fprintf(w, "%s  %s  %d x %d, %d nonzeros\n", m.letter, m.Name, m.Rows, m.Cols, m.NNZ)
	}
	fmt.Fprintf(w, "C  %d x %d, %d nonzeros; %d multiplications, %.2f for each nonzero\n", r.C.Rows, r.C.Cols, r.C.NNZ, r.Multiplications, float64(r.Compression))
	if len(r.Devices) > 0 && r.Devices[0].Kind == "sim" {
		fmt.Fprintln(w, "times of the interpreter, not of a GPU")
	}
	p := r.Phases
	fmt.Fprintf(w, "phases  read %s  convert %s  analyze %s  structure %s  compute %s", seconds(p.Read), seconds(p.Convert), seconds(p.Analyze), seconds(p.Structure), seconds(p.Compute))
	if p.Write > 0 {
		fmt.Fprintf(w, "  write %s", seconds(p.Write))
	}
	fmt.Fprintf(w, "  total %s\nproduct %s  %.3f GFLOP/s  %.2f GB/s of the arrays of A, B and C\n", seconds(p.Total), seconds(p.Product), float64(r.GFlops), float64(r.Rate))
	if p.Values > 0 {
		fmt.Fprintf(w, "values alone %s\n", seconds(p.Values))
	}
	return nil
}
