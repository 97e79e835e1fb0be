package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/solver"
	"github.com/msrep-go/msrep/sparse"
)

var solveCommand = &command{
	name: "solve", args: "MATRIX",
	summary: "solve A x = b",
	details: matrixHelp + "\nThe exit code is 1 when the tolerance is not reached; the result is printed nevertheless.",
	example: "msrep solve matrix.mtx.gz --method cg --precond jacobi --tol 1e-10 --out x.mtx",
	ranks:   true,
	setup: func(c *call) func(context.Context) error {
		s := &solve{call: c}
		f := c.flags
		f.StringVar(&s.rhs, "rhs", "ones", "b, a `VECTOR`: a file, ones, random:SEED or sin (b[j] = sin(j+1))")
		f.StringVar(&s.method, "method", "cg", "`METHOD`: cg (symmetric positive definite matrices only), bicgstab or gmres")
		f.StringVar(&s.precond, "precond", "none", "`PRECONDITIONER`: none, jacobi, or block-jacobi:SIZE")
		f.Float64Var(&s.tol, "tol", solver.DefaultTol, "relative `RESIDUAL` to reach, |b - A x| / |b|")
		f.IntVar(&s.maxIter, "max-iter", 0, "limit of `N` iterations; 0 means 10 times the number of rows, at least 1000")
		f.IntVar(&s.restart, "restart", solver.DefaultRestart, "restart gmres after `N` iterations")
		f.StringVar(&s.out, "out", "", "write x to `FILE`, as a Matrix Market array, if the tolerance is reached")
		f.BoolVar(&s.deterministic, "deterministic", false, "compute the same bits of x on any devices with any number of threads and ranks")
		return s.run
	},
}

type solve struct {
	*call
	rhs, method, precond, out string
	tol                       float64
	maxIter, restart          int
	block                     int // block size of block-jacobi
	deterministic             bool
}

var methods = map[string]solver.Method{"cg": solver.CG, "bicgstab": solver.BiCGSTAB, "gmres": solver.GMRES}

// check refuses wrong flags before any file is read.
func (s *solve) check() error {
	if err := s.want(1); err != nil {
		return err
	}
	if err := (choice{"--method", s.method, []string{"cg", "bicgstab", "gmres"}}).check(); err != nil {
		return err
	}
	kind, size, _ := strings.Cut(s.precond, ":")
	switch {
	case slices.Contains([]string{"none", "jacobi"}, s.precond):
	case kind == "block-jacobi":
		n, err := strconv.Atoi(size)
		if err != nil || n < 1 || n > solver.MaxBlockSize {
			return sparse.Inputf("--precond", "%q: give the size of the blocks, block-jacobi:1 to block-jacobi:%d", s.precond, solver.MaxBlockSize)
		}
		s.block = n
	default:
		return sparse.Inputf("--precond", "%q is not known: use none, jacobi or block-jacobi:SIZE", s.precond)
	}
	if !(s.tol > 0 && s.tol < 1) {
		return sparse.Inputf("--tol", "%g: use a number between 0 and 1", s.tol)
	}
	if s.maxIter < 0 {
		return sparse.Inputf("--max-iter", "%d: use a positive number, or 0 for 10 times the rows", s.maxIter)
	}
	if s.restart < 1 || s.restart > solver.MaxRestart {
		return sparse.Inputf("--restart", "%d: use 1 to %d", s.restart, solver.MaxRestart)
	}
	if err := checkVectorSpec("--rhs", s.rhs); err != nil {
		return err
	}
	return s.checkOut(s.out)
}

// solution is the result that solve prints.
type solution struct {
	Matrix     matrixName  `json:"matrix"`
	Method     string      `json:"method"`
	Precond    string      `json:"precond"`
	Converged  bool        `json:"converged"`
	Failure    string      `json:"failure,omitempty"` // why the solve did not converge
	Iterations int         `json:"iterations"`
	Products   int         `json:"products"`
	Residual   number      `json:"residual"` // |b - A x| / |b|, computed from x
	History    []number    `json:"history"`  // residuals that the method's recurrence gives
	Phases     solvePhases `json:"phases"`
	X          norms       `json:"x"`

	Devices []deviceName `json:"devices"`
	Ranks   []rankReport `json:"ranks,omitempty"` // only with several ranks
}

// solvePhases are times in seconds.
type solvePhases struct {
	Read    float64 `json:"read_s"`
	Plan    float64 `json:"plan_s"`    // split, packing, and copies to the devices
	Precond float64 `json:"precond_s"` // construction and application
	Product float64 `json:"product_s"` // all products
	Vector  float64 `json:"vector_s"`  // the rest of the solve
	Total   float64 `json:"total_s"`
}

func (s *solve) run(ctx context.Context) error {
	if err := s.agree(s.check()); err != nil {
		return err
	}
	if s.team != nil {
		return s.runOverRanks(ctx)
	}
	return s.onMatrix(ctx, s.out, msrep.Config{}, func(j *job) error { return s.solve(ctx, j) })
}

func (s *solve) solve(ctx context.Context, j *job) error {
	m := j.m
	r := s.newSolution(m.Rows, m.Cols, m.NNZ(), j.read)
	if m.Rows != m.Cols {
		return sparse.Inputf(s.args[0], "%d x %d: solve needs a square matrix", m.Rows, m.Cols)
	}
	b, err := s.readVector(ctx, "--rhs", s.rhs, m.Rows)
	if err != nil {
		return err
	}
	t := time.Now()
	plan, err := msrep.NewPlan(ctx, j.sys, m.CSR, msrep.PlanOptions{SkipValidation: true, Deterministic: s.deterministic})
	if err != nil {
		return err
	}
	defer plan.Close()
	r.Phases.Plan = time.Since(t).Seconds()

	t = time.Now()
	opt := s.options()
	switch {
	case s.block > 0:
		opt.Precond, err = solver.BlockJacobi(m.CSR, s.block)
	case s.precond == "jacobi":
		opt.Precond, err = solver.Jacobi(m.CSR)
	}
	if err != nil {
		return err
	}
	r.Phases.Precond = time.Since(t).Seconds()

	x, err := newVector[float64]("matrix", m.Rows)
	if err != nil {
		return err
	}
	res, failed := methods[s.method](ctx, plan, b, x, opt)
	if res == nil {
		return failed
	}
	r.copyResult(res, failed)
	r.X = normsOf(x)
	if failed == nil {
		if err := writeVector(j.out, x, nil); err != nil {
			return err
		}
	}
	return errors.Join(failed, s.finish(r, j.sys))
}

// newSolution returns a solution with the fields that are known before the solve.
func (s *solve) newSolution(rows, cols int, nnz int64, read time.Duration) *solution {
	r := &solution{Matrix: matrixName{shortName(s.args[0]), rows, cols, nnz}, Method: s.method, Precond: s.precond}
	r.Phases.Read = read.Seconds()
	return r
}

// options returns the solver options that the flags ask for.
func (s *solve) options() solver.Options {
	return solver.Options{Tol: s.tol, MaxIter: s.maxIter, Restart: s.restart}
}

// finish prints the result.
func (s *solve) finish(r *solution, sys *msrep.System) error {
	r.Devices = namesOf(sys.Devices())
	if s.json {
		return s.printJSON(r)
	}
	return r.print(s.stdout)
}

// copyResult copies the result of the solver.
func (r *solution) copyResult(res *solver.Result, failed error) {
	r.Converged, r.Iterations, r.Products, r.Residual = res.Converged, res.Iterations, res.Products, number(res.Residual)
	for _, h := range res.History {
		r.History = append(r.History, number(h))
	}
	if failed != nil {
		r.Failure = failed.Error()
	}
	t := res.Timing
	r.Phases.Precond += t.Precond.Seconds()
	r.Phases.Product = t.Products.Seconds()
	r.Phases.Vector = (t.Total - t.Products - t.Precond).Seconds()
	r.Phases.Total = r.Phases.Read + r.Phases.Plan + r.Phases.Precond + r.Phases.Product + r.Phases.Vector
}

func (r *solution) print(w io.Writer) error {
	p, state := r.Phases, "converged"
	if !r.Converged {
		state = "not converged"
	}
	fmt.Fprintf(w, "%s  %d x %d, %d nonzeros\n", r.Matrix.Name, r.Matrix.Rows, r.Matrix.Cols, r.Matrix.NNZ)
	fmt.Fprintf(w, "%s, preconditioner %s: %s, %d iterations, %d products, relative residual %.3g\n", r.Method, r.Precond, state, r.Iterations, r.Products, float64(r.Residual))
	fmt.Fprintf(w, "phases  read %s  plan %s  precond %s  products %s  vectors %s  total %s\n",
		seconds(p.Read), seconds(p.Plan), seconds(p.Precond), seconds(p.Product), seconds(p.Vector), seconds(p.Total))
	printRanks(w, r.Ranks)
	_, err := fmt.Fprintf(w, "x  norm1 %.17g  norm2 %.17g  sum %.17g\n", r.X.Norm1, r.X.Norm2, r.X.Sum)
	return err
}
