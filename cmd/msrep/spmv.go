package main

import (
	"context"
	"fmt"

	"github.com/msrep-go/msrep/internal/plot"
	"github.com/msrep-go/msrep/internal/plot/timeline"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/matio"
)

var spmvCommand = &command{
	name: "spmv", args: "MATRIX",
	summary: "multiply: y = alpha*op(A)*x + beta*y",
	details: matrixHelp,
	example: "msrep spmv matrix.mtx.gz --x sin --devices cpu:2 --repeat 10",
	more:    formatHelp,
	ranks:   true,
	setup: func(c *call) func(context.Context) error {
		s := &spmv{call: c}
		f := c.flags
		f.StringVar(&s.x, "x", "ones", "`VECTOR`: a .mtx or .npy file, ones, zeros, random:SEED or sin (x[j] = sin(j+1))")
		f.StringVar(&s.y, "y", "zeros", "initial y, a `VECTOR` as for --x")
		f.Float64Var(&s.alpha, "alpha", 1, "scalar `ALPHA`")
		f.Float64Var(&s.beta, "beta", 0, "scalar `BETA`; with 0 the initial y is not read")
		f.BoolVar(&s.transpose, "transpose", false, "op(A) is the transpose of A")
		f.StringVar(&s.out, "out", "", "write y to `FILE`, as a Matrix Market array, or as NumPy does if it ends in .npy; with --renumber as lines of id and value")
		f.BoolVar(&s.renumber, "renumber", false, "number the rows and columns of an edge list by the ids that occur, in ascending order; x and y have one element per id")
		f.StringVar(&s.plot, "plot", "", "draw the time line of the devices and phases into `FILE`: .html, or .png or .svg for one picture")
		f.StringVar(&s.trace, "trace", "", "write the time line to `FILE.json` as a Chrome trace, which Perfetto opens")
		f.StringVar(&s.format, "format", "auto", "`FORMAT`: auto, csr, csc, coo, or a form into which devices pack their parts (see above)")
		f.StringVar(&s.strategy, "strategy", string(msrep.Optimized), "`STRATEGY` of the MSREP paper: baseline, p or p-opt")
		f.StringVar(&s.precision, "precision", "fp64", "`PRECISION`: fp64, or cpms2:K and cpms4:K to read K of 2 or 4 segments of each value")
		f.StringVar(&s.value, "value", "fp64", "`TYPE` of values and vectors: fp64 or fp32")
		f.StringVar(&s.kernel, "kernel", "auto", "`KERNEL` library of GPUs: auto (the faster one, measured), own or cusparse; CPU devices use their own")
		f.StringVar(&s.numa, "numa", string(msrep.NUMAAuto), numaUsage)
		f.StringVar(&s.choice, "choice", "", "use the forms in `FILE`, written by --save-choice, instead of searching for the fastest")
		f.StringVar(&s.saveChoice, "save-choice", "", "write the forms that the devices chose to `FILE`; they search only if --repeat is large enough")
		f.IntVar(&s.repeat, "repeat", 1, "multiply `N` times; phases are medians")
		f.BoolVar(&s.deterministic, "deterministic", false, "compute the same bits of y on any devices with any number of threads")
		return s.run
	},
}

type spmv struct {
	*call
	x, y, out                                        string
	alpha, beta                                      float64
	transpose, deterministic, renumber               bool
	format, strategy, precision, value, kernel, numa string
	repeat                                           int
	choice, saveChoice                               string
	plot, trace                                      string
	timed                                            *timeline.Recorder // nil without --plot and --trace
	saveTimed                                        func() error       // writes the files of --plot and --trace
}

// check refuses wrong flags before any file is read.
func (s *spmv) check() error {
	if err := s.want(1); err != nil {
		return err
	}
	if err := checkFormat(s.format); err != nil {
		return err
	}
	for _, f := range []choice{
		{"--strategy", s.strategy, []string{"baseline", "p", "p-opt"}},
		{"--precision", s.precision, []string{"fp64", "cpms2:1", "cpms2:2", "cpms4:1", "cpms4:2", "cpms4:3", "cpms4:4"}},
		{"--value", s.value, []string{"fp64", "fp32"}},
		{"--kernel", s.kernel, []string{"auto", "own", "cusparse"}},
	} {
		if err := f.check(); err != nil {
			return err
		}
	}
	if err := checkNUMA(s.numa); err != nil {
		return err
	}
	for name, v := range map[string]float64{"--alpha": s.alpha, "--beta": s.beta} {
		if s.value == "fp32" && beyond(v, float32(v)) {
			return sparse.Inputf(name, "%g: beyond the range of fp32", v)
		}
	}
	if s.repeat < 1 || s.repeat > maxRepeat {
		return sparse.Inputf("--repeat", "%d: use 1 to %d", s.repeat, maxRepeat)
	}
	if err := checkVectorSpec("--x", s.x); err != nil {
		return err
	}
	if err := checkVectorSpec("--y", s.y); err != nil {
		return err
	}
	if err := s.checkChoice(); err != nil {
		return err
	}
	others := []namedFile{{s.args[0], "the matrix"}, {s.x, "x"}, {s.y, "y"}, {s.choice, "the choice"}, {s.saveChoice, "the file for the choice"}, {s.out, "the file for y"}}
	if err := checkPicture("--plot", s.plot, plot.Extensions, others...); err != nil {
		return err
	}
	if err := checkPicture("--trace", s.trace, []string{".json"}, append(others, namedFile{s.plot, "the file of --plot"})...); err != nil {
		return err
	}
	for _, f := range []namedFile{{s.plot, "--plot"}, {s.trace, "--trace"}} {
		if s.team != nil && f.path != "" {
			return sparse.Inputf(f.is, "%s: a run on several ranks writes no page and no trace", f.path)
		}
	}
	return s.checkOut(s.out, oneVector)
}

// maxRepeat is the limit of --repeat: the median needs the times of all products.
const maxRepeat = 1_000_000

func (s *spmv) run(ctx context.Context) error {
	if err := s.agree(s.check()); err != nil {
		return err
	}
	if s.team != nil {
		return s.runOverRanks(ctx)
	}
	var opts []matio.Option
	if s.renumber {
		opts = append(opts, matio.Renumber())
	}
	config := msrep.Config{NUMA: msrep.NUMA(s.numa)}
	save := func(matrixName) error { return nil }
	if s.plot+s.trace != "" {
		s.timed = timeline.New()
		config.Trace = func(e msrep.Event) { s.timed.Add(timeline.Event(e)) }
		drawn, err := openPicture("--plot", s.plot)
		if err != nil {
			return err
		}
		defer drawn.close()
		traced, err := openPicture("--trace", s.trace)
		if err != nil {
			return err
		}
		defer traced.close()
		save = func(m matrixName) error { return s.saveTimes(drawn, traced, m) }
	}
	return s.onMatrix(ctx, s.out, config, func(j *job) error {
		s.timed.Add(timeline.Event{Name: "read matrix", Start: j.begin, Duration: j.read})
		s.timed.Devices(idsOfDevices(j.sys))
		s.saveTimed = func() error { return save(matrixName{shortName(j.m.Name), j.m.Rows, j.m.Cols, j.m.NNZ()}) }
		if s.renumber && j.m.FileFormat != matio.SNAP {
			return sparse.Inputf("--renumber", "applies to edge lists only, and %s is not one: leave it out", s.args[0])
		}
		if s.value == "fp32" {
			if err := checkSingle(s.args[0], j.m.CSR, 0); err != nil {
				return err
			}
			return multiply(ctx, s, j, sparse.Convert[float32](j.m.CSR))
		}
		return multiply(ctx, s, j, j.m.CSR)
	}, opts...)
}

// idsOf returns the node ids of a renumbered edge list.
func idsOf(m *matio.Matrix) []int64 {
	if m.IDs != nil {
		return m.IDs
	}
	ids := make([]int64, m.Rows)
	for k := range ids {
		ids[k] = int64(k)
	}
	return ids
}

// multiply makes the plan, multiplies and reports.
func multiply[V sparse.Value](ctx context.Context, s *spmv, j *job, a *sparse.CSR[V]) error {
	op, rows, cols := msrep.NoTrans, a.Rows, a.Cols
	if s.transpose {
		op, rows, cols = msrep.Trans, a.Cols, a.Rows
	}
	ended := s.timed.Phase("read vectors")
	x, err := s.readVector(ctx, "--x", s.x, cols)
	if err != nil {
		return err
	}
	xv, err := convert[V]("--x", x)
	if err != nil {
		return err
	}
	y, err := s.readVector(ctx, "--y", s.y, rows)
	if err != nil {
		return err
	}
	y0, err := convert[V]("--y", y)
	if err != nil {
		return err
	}
	ended()
	opt := s.planOptions()
	save, err := s.choices(&opt)
	if err != nil {
		return err
	}
	if save != nil {
		defer save.Close()
	}
	s.progress.doing("planning", nil)
	plan, err := msrep.NewPlan(ctx, j.sys, a, opt)
	if err != nil {
		return s.unsuited(err)
	}
	defer plan.Close()
	yv, err := newVector[V]("--y", rows)
	if err != nil {
		return err
	}
	times := make([]msrep.Timing, s.repeat)
	products := count{total: int64(s.repeat)}
	s.progress.doing("multiplying", products.part)
	for i := range times {
		copy(yv, y0)
		if err := plan.SpMV(ctx, op, V(s.alpha), xv, V(s.beta), yv); err != nil {
			return err
		}
		times[i] = plan.LastTiming()
		products.done.Add(1)
	}
	s.progress.doing("writing results", nil)
	ended = s.timed.Phase("write y")
	var ids []int64
	if s.renumber && j.out != nil {
		ids = idsOf(j.m)
	}
	if err := writeVector(s.out, j.out, yv, ids); err != nil {
		return err
	}
	if j.out != nil {
		ended()
	}
	if err := s.saveTimed(); err != nil {
		return err
	}
	if err := writeChoice(save, plan.Choice()); err != nil {
		return err
	}
	r := newReport(s, j, plan, times)
	r.Y = normsOf(yv)
	if s.json {
		return s.printJSON(r)
	}
	return r.print(s.stdout)
}

// planOptions returns the plan options that the flags ask for.
func (s *spmv) planOptions() msrep.PlanOptions {
	opt := msrep.PlanOptions{
		Storage:        msrep.NamedStorage(s.format),
		Variant:        msrep.Variant{Strategy: msrep.Strategy(s.strategy), Library: msrep.KernelLibrary(s.kernel)},
		SkipValidation: true,
		Deterministic:  s.deterministic,
	}
	opt.Storage.Segments = s.segments()
	if s.transpose {
		opt.Expected.Products, opt.Expected.Transposed = 1, s.repeat
	} else {
		opt.Expected.Products = s.repeat
	}
	return opt
}

// segments returns the segments that --precision asks for: "cpms4:2" reads 2 of 4.
func (s *spmv) segments() (p kernels.Segments) {
	fmt.Sscanf(s.precision, "cpms%d:%d", &p.Count, &p.Read) // leaves both fields 0 for fp64
	return p
}
