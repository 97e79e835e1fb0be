package main

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/msrep-go/msrep/internal/plot"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/solver"
	"github.com/msrep-go/msrep/sparse"
)

var solveCommand = &command{
	name: "solve", args: "MATRIX",
	summary: "solve A x = b",
	details: matrixHelp + "\nWithout --method, --precond and --order, solve chooses them by the matrix, and tries the next choice of a list if one fails.\nIf the tolerance is not reached, the result is printed and the exit code is 1.",
	example: "msrep solve matrix.mtx.gz --tol 1e-10 --explain --out x.mtx",
	ranks:   true,
	setup: func(c *call) func(context.Context) error {
		s := &solve{call: c}
		f, o := c.flags, &s.opt
		f.StringVar(&s.rhs, "rhs", "ones", "b, a `VECTOR`: a .mtx or .npy file, ones, random:SEED or sin (b[j] = sin(j+1))")
		f.StringVar(&o.Method, "method", "auto", "`METHOD`: auto, cg (symmetric positive definite), minres (symmetric), bicgstab, gmres, fgmres, idr, lsmr (any shape) or direct (factors)")
		f.StringVar(&o.Precond, "precond", "auto", "`PRECONDITIONER`: auto (none with --method), none, jacobi, block-jacobi:N, ilu, ic, ilut, amg or chebyshev")
		f.StringVar(&o.Order, "order", "auto", "`ORDER` of factors: auto, none, rcm or amd")
		f.Float64Var(&o.Tol, "tol", solver.DefaultTol, "relative `RESIDUAL` to reach, |b - A x| / |b|")
		f.IntVar(&o.MaxIter, "max-iter", 0, "limit of `N` iterations; 0 means 10 times the number of rows, at least 1000")
		f.IntVar(&o.Restart, "restart", solver.DefaultRestart, "restart gmres and fgmres after `N` iterations")
		f.StringVar(&s.basis, "basis", "auto", "store the vectors of gmres and fgmres as `NUMBERS`: auto, float64 or int32 (half of the memory traffic; on CPUs)")
		f.Float64Var(&s.seconds, "time", 0, "end after `SECONDS`; 0 means no limit")
		f.StringVar(&s.out, "out", "", "write x to `FILE`, as a Matrix Market array or (.npy) as NumPy does, if the tolerance is reached")
		f.StringVar(&s.plot, "plot", "", "draw the residuals of all iterations into `FILE`: .html, or .png or .svg for one picture")
		f.BoolVar(&s.explain, "explain", false, "print all attempts, and why each was made")
		f.BoolVar(&o.Deterministic, "deterministic", false, "compute the same bits of x on any devices with any number of threads and ranks")
		return s.run
	},
}

type solve struct {
	*call
	opt      solver.SolveOptions
	rhs, out string
	basis    string
	plot     string
	seconds  float64
	explain  bool
}

// check refuses wrong flags before any file is read.
func (s *solve) check() error {
	if err := s.want(1); err != nil {
		return err
	}
	for _, name := range []*string{&s.opt.Method, &s.opt.Precond, &s.opt.Order} {
		if *name == "auto" {
			*name = ""
		}
	}
	if err := s.opt.Choice.Check(); err != nil {
		return err
	}
	if !(s.opt.Tol > 0 && s.opt.Tol < 1) {
		return sparse.Inputf("--tol", "%g: use a number between 0 and 1", s.opt.Tol)
	}
	if s.opt.MaxIter < 0 {
		return sparse.Inputf("--max-iter", "%d: use a positive number, or 0 for 10 times the rows", s.opt.MaxIter)
	}
	if s.opt.Restart < 1 || s.opt.Restart > solver.MaxRestart {
		return sparse.Inputf("--restart", "%d: use 1 to %d", s.opt.Restart, solver.MaxRestart)
	}
	if s.basis != "auto" {
		if !slices.Contains(solver.Bases, s.basis) {
			return sparse.Inputf("--basis", "%q is not known: use auto, %s", s.basis, strings.Join(solver.Bases, " or "))
		}
		if m := s.opt.Method; m != "" && m != "gmres" && m != "fgmres" {
			return sparse.Inputf("--basis", "%s has no basis: it is for gmres and fgmres", m)
		}
		s.opt.Basis = solver.Basis(s.basis)
	}
	if err := checkVectorSpec("--rhs", s.rhs); err != nil {
		return err
	}
	if !(s.seconds >= 0) || s.seconds*float64(time.Second) >= math.MaxInt64 {
		return sparse.Inputf("--time", "%g: use a number of seconds, or 0 for no limit", s.seconds)
	}
	s.opt.Time = time.Duration(math.Ceil(s.seconds * float64(time.Second)))
	return errors.Join(s.checkOut(s.out, oneVector), checkPicture("--plot", s.plot, plot.Extensions, namedFile{s.args[0], "the matrix"}, namedFile{s.rhs, "b"}, namedFile{s.out, "the file for x"}))
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
	drawn, err := openPicture("--plot", s.plot) // before the work, as j.out
	if err != nil {
		return err
	}
	defer drawn.close()
	m := j.m
	r := s.newSolution(m.Rows, m.Cols, m.NNZ(), j.read)
	b, err := s.readVector(ctx, "--rhs", s.rhs, m.Rows)
	if err != nil {
		return err
	}
	x, err := newVector[float64]("matrix", m.Cols)
	if err != nil {
		return err
	}
	line := solveProgress{line: s.progress, tol: s.opt.Tol, start: time.Now(), keeps: drawn != nil}
	s.opt.Progress = line.step
	res, failed := solver.Solve(ctx, j.sys, m.CSR, b, x, s.opt)
	if res == nil {
		return failed
	}
	r.copySolution(res, failed)
	r.X = normsOf(x)
	if failed == nil {
		if err := writeVector(s.out, j.out, x, nil); err != nil {
			return err
		}
	}
	if drawn != nil {
		if err := drawn.save(s.plot, r.page(line.times)); err != nil {
			return errors.Join(failed, err)
		}
	}
	return errors.Join(failed, s.finish(r, j.sys))
}

// finish prints the result.
func (s *solve) finish(r *solution, sys *msrep.System) error {
	r.Devices = namesOf(sys.Devices())
	if s.json {
		return s.printJSON(r)
	}
	return r.print(s.stdout, s.explain)
}
