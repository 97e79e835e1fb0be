package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/msrep-go/msrep/internal/fileio"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/solver"
	"github.com/msrep-go/msrep/solver/eigen"
	"github.com/msrep-go/msrep/solver/factor"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/mtx"
)

// eigenKeys explains the JSON object of eig and svd.
const eigenKeys = "JSON keys: matrix, method, which, k, values, residuals, norm (an estimate of |A|), tol, converged, failure,\n" +
	"iterations, products, restarts, copies (results that only the search for missed copies found), phases, devices.\n" +
	"If fewer than N results reach the tolerance, what was found is printed and the exit code is 1."

var eigCommand = &command{
	name: "eig", args: "MATRIX",
	summary: "find eigenvalues of a symmetric matrix",
	details: matrixHelp + "\nlanczos multiplies A by one vector at a time. lobpcg multiplies by blocks of vectors and takes a preconditioner, which\nsuits the smallest eigenvalues of large positive definite matrices. near:SIGMA factors A - SIGMA I; near:0 finds the\nsmallest magnitudes.\n" + eigenKeys,
	example: "msrep eig matrix.mtx.gz --k 10 --which near:0 --out-vectors v.mtx",
	setup: func(c *call) func(context.Context) error {
		e := &eig{call: c}
		f, o := c.flags, &e.opt
		e.common("eigenvalues")
		f.StringVar(&e.which, "which", string(eigen.Largest), "`WHICH` eigenvalues: largest, smallest (as numbers), magnitude (largest magnitudes) or near:SIGMA (nearest to a number)")
		f.StringVar(&o.Method, "method", eigen.MethodLanczos, "`METHOD`: lanczos or lobpcg")
		f.StringVar(&e.precond, "precond", "none", "`PRECONDITIONER` of lobpcg: none, jacobi or ic")
		f.StringVar(&e.outs[0].path, "out-vectors", "", "write the eigenvectors to `FILE`, as the columns of a Matrix Market array")
		e.outs[0].flag = "--out-vectors"
		return e.run
	},
}

var svdCommand = &command{
	name: "svd", args: "MATRIX",
	summary: "find singular values of a matrix",
	details: matrixHelp + "\nThe largest are found by products with A and A', the smallest with factors.\n" + eigenKeys,
	example: "msrep svd matrix.mtx.gz --k 10 --out-u u.mtx --out-v v.mtx",
	setup: func(c *call) func(context.Context) error {
		e := &eig{call: c, singular: true}
		f := c.flags
		e.common("singular values")
		f.StringVar(&e.which, "which", string(eigen.Largest), "`WHICH` singular values: largest or smallest")
		f.StringVar(&e.outs[0].path, "out-u", "", "write the left singular vectors to `FILE`, as the columns of a Matrix Market array")
		f.StringVar(&e.outs[1].path, "out-v", "", "write the right singular vectors to `FILE`")
		e.outs[0].flag, e.outs[1].flag = "--out-u", "--out-v"
		return e.run
	},
}

// eig is a run of eig or svd.
type eig struct {
	*call
	singular       bool
	opt            eigen.Options
	which, precond string
	outs           [2]vectorsOut
}

// vectorsOut is a file for vectors.
type vectorsOut struct {
	flag, path string
	file       *fileio.Out
}

// common declares the flags of both commands.
func (e *eig) common(results string) {
	f, o := e.flags, &e.opt
	f.IntVar(&o.Count, "k", eigen.DefaultCount, "find `N` "+results+", by default all of a smaller matrix")
	f.Float64Var(&o.Tol, "tol", eigen.DefaultTol, "largest `RESIDUAL`, relative to |A|")
	f.IntVar(&o.MaxIter, "max-iter", 0, "limit of `N` iterations; 0 means 10 times the number of rows, at least 10000")
	f.IntVar(&o.Basis, "basis", 0, "keep `N` vectors of the basis; 0 begins with about 2k and grows it where that saves work")
	f.BoolVar(&o.Deterministic, "deterministic", false, "compute the same bits on any devices with any number of threads")
}

// check refuses wrong flags before any file is read.
func (e *eig) check() error {
	if err := e.want(1); err != nil {
		return err
	}
	if e.opt.Count < 1 {
		return sparse.Inputf("--k", "%d: use 1 or more", e.opt.Count)
	}
	if e.opt.Tol == 0 {
		return sparse.Inputf("--tol", "0: use a number between 0 and 1")
	}
	if err := e.checkWhich(); err != nil {
		return err
	}
	if !e.singular {
		if err := (choice{"--method", e.opt.Method, []string{eigen.MethodLanczos, eigen.MethodLOBPCG}}).check(); err != nil {
			return err
		}
		if err := (choice{"--precond", e.precond, []string{"none", "jacobi", "ic"}}).check(); err != nil {
			return err
		}
		if e.precond != "none" && e.opt.Method != eigen.MethodLOBPCG {
			return sparse.Inputf("--precond", "%s: only lobpcg has a preconditioner; add --method lobpcg or leave it out", e.precond)
		}
	}
	for _, o := range e.outs {
		if err := e.checkOut(o.path, severalVectors); err != nil {
			var bad *sparse.InputError
			if errors.As(err, &bad) {
				bad.Subject = o.flag
			}
			return err
		}
	}
	if u, v := e.outs[0].path, e.outs[1].path; u != "" && u == v {
		return sparse.Inputf("--out-v", "%s: is the file of --out-u: name another file", v)
	}
	return nil
}

// checkWhich sets opt.Which and opt.Sigma.
func (e *eig) checkWhich() error {
	word, sigma, _ := strings.Cut(e.which, ":")
	if e.opt.Which = eigen.Which(word); e.opt.Which == eigen.Near && !e.singular {
		var err error
		if e.opt.Sigma, err = strconv.ParseFloat(sigma, 64); err != nil || math.IsNaN(e.opt.Sigma) || math.IsInf(e.opt.Sigma, 0) {
			return sparse.Inputf("--which", "%q: name a number, as in near:0", e.which)
		}
		return nil
	}
	known := []string{string(eigen.Largest), string(eigen.Smallest), string(eigen.Magnitude), "near:SIGMA"}
	if e.singular {
		known = known[:2]
	}
	return choice{"--which", e.which, known}.check()
}

// preconditioner returns the preconditioner that --precond names.
func (e *eig) preconditioner(ctx context.Context, a *sparse.CSR[float64]) (solver.Preconditioner, error) {
	switch e.precond {
	case "jacobi":
		return solver.Jacobi(a)
	case "ic":
		return factor.NewIC0(ctx, a, factor.IC0Options{})
	}
	return nil, nil
}

// eigenReport is the result that eig and svd print.
type eigenReport struct {
	Matrix     matrixName   `json:"matrix"`
	Method     string       `json:"method"`
	Which      string       `json:"which"`
	Count      int          `json:"k"`
	Values     []number     `json:"values"`
	Residuals  []number     `json:"residuals"` // |A v - lambda v|, or the larger of |A v - sigma u| and |A'u - sigma v|
	Norm       number       `json:"norm"`
	Tol        float64      `json:"tol"`
	Converged  bool         `json:"converged"`
	Failure    string       `json:"failure,omitempty"`
	Iterations int          `json:"iterations"`
	Products   int          `json:"products"`
	Restarts   int          `json:"restarts"`
	Copies     int          `json:"copies"`
	Phases     eigenPhases  `json:"phases"`
	Devices    []deviceName `json:"devices"`
}

// eigenPhases are times in seconds.
type eigenPhases struct {
	Read    float64 `json:"read_s"`
	Plan    float64 `json:"plan_s"`
	Precond float64 `json:"precond_s"` // factors and solves with them, or the preconditioner
	Product float64 `json:"product_s"`
	Vector  float64 `json:"vector_s"` // the rest
	Total   float64 `json:"total_s"`
}

func (e *eig) run(ctx context.Context) error {
	if err := e.check(); err != nil {
		return err
	}
	for i := range e.outs {
		o := &e.outs[i]
		if o.path == "" {
			continue
		}
		var err error
		if o.file, err = fileio.Create(o.path); err != nil { // before the work
			return &sparse.InputError{Err: err}
		}
		defer o.file.Close()
	}
	return e.onMatrix(ctx, "", msrep.Config{}, func(j *job) error { return e.find(ctx, j) })
}

// find finds the values, and writes and prints them.
func (e *eig) find(ctx context.Context, j *job) error {
	if !e.given("k") {
		e.opt.Count = min(e.opt.Count, j.m.Rows, j.m.Cols)
	}
	line, shown := newProgress(e.stderr, e.quiet), time.Time{}
	e.opt.Progress = func(s eigen.Step) {
		if now := time.Now(); now.Sub(shown) >= showEvery {
			shown = now
			line.show("iteration %d, %d of %d found, residual %.2e", s.Iteration, s.Converged, e.opt.Count, s.Residual)
		}
	}
	var info eigen.Info
	var values []float64
	var vectors [2][][]float64
	var failed error
	if e.singular {
		res, err := eigen.SolveSingular(ctx, j.sys, j.m.CSR, e.opt)
		if failed = err; res != nil {
			values, vectors, info = res.Values, [2][][]float64{res.U, res.V}, res.Info
		}
	} else {
		var err error
		if e.opt.Precond, err = e.preconditioner(ctx, j.m.CSR); err != nil {
			return err
		}
		res, err := eigen.Solve(ctx, j.sys, j.m.CSR, e.opt)
		if failed = err; res != nil {
			values, vectors, info = res.Values, [2][][]float64{res.Vectors}, res.Info
		}
	}
	line.end()
	if values == nil {
		return failed
	}
	for i, o := range e.outs {
		if o.file != nil && failed == nil {
			if err := errors.Join(mtx.WriteVectors(o.file, vectors[i]), o.file.Commit()); err != nil {
				return err
			}
		}
	}
	r := e.report(j, values, info, failed)
	if e.json {
		return errors.Join(failed, e.printJSON(r))
	}
	return errors.Join(failed, r.print(e.stdout))
}

// report returns what is printed.
func (e *eig) report(j *job, values []float64, info eigen.Info, failed error) *eigenReport {
	t, m := info.Timing, j.m
	r := &eigenReport{Matrix: matrixName{shortName(e.args[0]), m.Rows, m.Cols, m.NNZ()}, Method: info.Method, Which: e.which, Count: e.opt.Count,
		Values: numbers(values), Residuals: numbers(info.Residuals), Norm: number(info.Norm), Tol: e.opt.Tol,
		Converged: info.Converged && failed == nil, Iterations: info.Iterations, Products: info.Products, Restarts: info.Restarts,
		Copies: info.Copies, Devices: namesOf(j.sys.Devices())}
	if failed != nil {
		r.Failure = failed.Error()
	}
	r.Phases = eigenPhases{Read: j.read.Seconds(), Plan: t.Plan.Seconds(), Precond: t.Precond.Seconds(), Product: t.Products.Seconds(),
		Vector: (t.Total - t.Plan - t.Precond - t.Products).Seconds(), Total: (j.read + t.Total).Seconds()}
	return r
}

func (r *eigenReport) print(w io.Writer) error {
	state := "converged"
	if !r.Converged {
		state = "not converged"
	}
	p := r.Phases
	fmt.Fprintf(w, "%s  %d x %d, %d nonzeros\n", r.Matrix.Name, r.Matrix.Rows, r.Matrix.Cols, r.Matrix.NNZ)
	fmt.Fprintf(w, "%s, %s %d: %s, %d iterations, %d products, %d restarts\n", r.Method, r.Which, r.Count, state, r.Iterations, r.Products, r.Restarts)
	if r.Copies > 0 {
		fmt.Fprintf(w, "copies  %d results found only by the search for missed copies\n", r.Copies)
	}
	fmt.Fprintf(w, "phases  read %s  plan %s  precond %s  products %s  vectors %s  total %s\n",
		seconds(p.Read), seconds(p.Plan), seconds(p.Precond), seconds(p.Product), seconds(p.Vector), seconds(p.Total))
	_, err := fmt.Fprintf(w, "norm    %.6g\n%24s  residual\n", float64(r.Norm), "value")
	for i, v := range r.Values {
		_, err = fmt.Fprintf(w, "%24.16g  %.2e\n", float64(v), float64(r.Residuals[i]))
	}
	return err
}
