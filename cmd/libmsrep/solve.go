//go:build cgo

package main

// #include "shim.h"
import "C"

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"
	"unsafe"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/solver"
	"github.com/msrep-go/msrep/sparse"
)

//export msrepgo_solve
func msrepgo_solve(plan C.msrep_plan, method, precond C.int, n C.int64_t, b unsafe.Pointer, x *C.double, tol C.double, maxIter C.int64_t, iterations *C.int64_t, residual *C.double) C.msrep_status {
	return call(func() error {
		p, err := get[anyPlan](uint64(plan))
		if err != nil {
			return err
		}
		vb, err := view[float64]("b", b, int64(n))
		if err != nil {
			return err
		}
		vx, err := view[float64]("x", unsafe.Pointer(x), int64(n))
		if err != nil {
			return err
		}
		r := begin(p.owner(), uint64(plan))
		defer r.end()
		res, err := p.solve(r.ctx, int(method), int(precond), vb, vx, solver.Options{Tol: float64(tol), MaxIter: int(maxIter)})
		if res != nil {
			if iterations != nil {
				*iterations = C.int64_t(res.Iterations)
			}
			if residual != nil {
				*residual = C.double(res.Residual)
			}
		}
		return r.cause(err)
	})
}

func (p *openPlan[V]) solve(ctx context.Context, method, precond int, b, x []float64, opt solver.Options) (*solver.Result, error) {
	p.values.RLock()
	defer p.values.RUnlock()
	methods := []solver.Method{solver.CG, solver.BiCGSTAB, solver.GMRES}
	if method < 0 || method >= len(methods) {
		return nil, sparse.Inputf("method", "%d: use MSREP_CG, MSREP_BICGSTAB or MSREP_GMRES", method)
	}
	switch precond {
	case 0:
	case 1:
		var err error
		if opt.Precond, err = p.jacobi(); err != nil {
			return nil, err
		}
	default:
		return nil, sparse.Inputf("precond", "%d: use MSREP_NO_PRECOND or MSREP_JACOBI", precond)
	}
	if n, _ := p.plan.Dims(); len(b) == n && len(x) == n { // the solver refuses other lengths
		if err := cmp.Or(touch("b", b, false), touch("x", x, true)); err != nil {
			return nil, err
		}
	}
	return methods[method](ctx, p.operator(), b, x, opt)
}

//export msrepgo_solve_with
func msrepgo_solve_with(system C.msrep_system, matrix *C.msrep_matrix, m C.int64_t, b unsafe.Pointer, n C.int64_t, x *C.double, options *C.msrep_solve_options, result *C.msrep_solve_result) C.msrep_status {
	return call(func() error {
		s, err := newSolve(m, b, n, x, options, result)
		if err != nil {
			return err
		}
		sys, err := get[*openSystem](uint64(system))
		if err != nil {
			return err
		}
		r := begin(uint64(system), 0)
		defer r.end()
		g, err := readMatrix(matrix)
		if err != nil {
			return err
		}
		a, err := loadMatrix[float64](g, false)
		if err != nil {
			return err
		}
		if err := a.Validate(); err != nil {
			return err
		}
		return s.run(r, func(ctx context.Context, opt solver.SolveOptions, b, x []float64) (*solver.Solution, error) {
			return solver.Solve(ctx, sys.sys, a, b, x, opt)
		})
	})
}

// solve is a call of msrep_solve_with or msrep_plan_solve.
type solve struct {
	b, x     []float64 // of the caller
	opt      solver.SolveOptions
	callback progress
	result   *C.msrep_solve_result
}

// newSolve reads the arguments of a solve.
func newSolve(m C.int64_t, b unsafe.Pointer, n C.int64_t, x *C.double, options *C.msrep_solve_options, result *C.msrep_solve_result) (*solve, error) {
	o, err := readStruct("options", options)
	if err != nil {
		return nil, err
	}
	if err := writeStruct("result", result, C.msrep_solve_result{}); err != nil {
		return nil, err
	}
	s := &solve{result: result, callback: progress{o.progress, o.arg}}
	if s.b, err = readable[float64]("b", b, int64(m)); err != nil {
		return nil, err
	}
	if s.x, err = view[float64]("x", unsafe.Pointer(x), int64(n)); err != nil {
		return nil, err
	}
	if err := touch("x", s.x, true); err != nil {
		return nil, err
	}
	if mem.Overlap(s.b, s.x) {
		return nil, sparse.Inputf("x", "shares memory with b")
	}
	return s, s.readOptions(o)
}

func (s *solve) readOptions(o C.msrep_solve_options) error {
	if err := checkFlags(o.flags, C.MSREP_DETERMINISTIC); err != nil {
		return err
	}
	s.opt.Choice = solver.Choice{Method: named(o.method), Precond: named(o.precond), Order: named(o.order)}
	s.opt.Tol, s.opt.MaxBytes, s.opt.Deterministic = float64(o.tol), int64(o.max_bytes), o.flags != 0
	var errs [2]error
	s.opt.MaxIter, errs[0] = count("max_iter", o.max_iter)
	s.opt.Restart, errs[1] = count("restart", o.restart)
	if seconds := float64(o.seconds); !(seconds >= 0 && seconds*float64(time.Second) < math.MaxInt64) {
		return sparse.Inputf("seconds", "%g: use a number of seconds, or 0 for no limit", seconds)
	}
	s.opt.Time = time.Duration(math.Ceil(float64(o.seconds) * float64(time.Second)))
	return cmp.Or(errs[0], errs[1], s.opt.Choice.Check())
}

// named is text with "" for "auto".
func named(p *C.char) string {
	if s := text(p); s != "auto" {
		return s
	}
	return ""
}

// run solves by way of method, which gets copies of b and x that outlive the call, and stores x and the result.
func (s *solve) run(call *run, method func(context.Context, solver.SolveOptions, []float64, []float64) (*solver.Solution, error)) error {
	if have, ok := mem.Fits(8 * int64(len(s.b)+len(s.x))); !ok {
		return sparse.Inputf("x", "copies of b and x take %d bytes, %d are available", 8*(len(s.b)+len(s.x)), have)
	}
	b, x := slices.Clone(s.b), slices.Clone(s.x)
	begin := time.Now()
	var sol *solver.Solution
	last, ended, err := call.supervise(s.callback, func(ctx context.Context, report func(int, float64)) (err error) {
		opt := s.opt
		opt.Progress = func(at solver.Step) { report(at.Iteration, at.Residual) }
		sol, err = method(ctx, opt, b, x)
		return err
	})
	r := C.msrep_solve_result{iterations: C.int64_t(last.iteration), residual: C.double(last.residual)}
	if ended {
		copy(s.x, x)
		if sol != nil {
			r.iterations, r.residual = C.int64_t(sol.Iterations), C.double(sol.Residual)
			fill(&r.method, sol.Method)
			fill(&r.precond, cmp.Or(sol.Precond, "none"))
			fill(&r.order, cmp.Or(sol.Order, "none"))
			if sol.LeastSquares {
				r.least_squares = 1
			}
		}
	}
	r.seconds = C.double(time.Since(begin).Seconds())
	return cmp.Or(err, writeStruct("result", s.result, r))
}
