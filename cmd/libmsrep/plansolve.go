//go:build cgo

package main

// #include "shim.h"
import "C"

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"unsafe"

	"github.com/msrep-go/msrep/solver"
	"github.com/msrep-go/msrep/solver/amg"
	"github.com/msrep-go/msrep/sparse"
)

//export msrepgo_plan_solve
func msrepgo_plan_solve(plan C.msrep_plan, m C.int64_t, b unsafe.Pointer, n C.int64_t, x *C.double, options *C.msrep_solve_options, result *C.msrep_solve_result) C.msrep_status {
	return call(func() error {
		p, err := get[anyPlan](uint64(plan))
		if err != nil {
			return err
		}
		r := begin(p.owner(), uint64(plan))
		defer r.end()
		s, err := newSolve(m, b, n, x, options, result)
		if err != nil {
			return err
		}
		return s.run(r, p.method)
	})
}

// method solves A x = b by one iterative method with the products of the plan.
func (p *openPlan[V]) method(ctx context.Context, opt solver.SolveOptions, b, x []float64) (*solver.Solution, error) {
	p.values.RLock()
	defer p.values.RUnlock()
	sol := &solver.Solution{Choice: opt.Choice}
	rows, cols := p.plan.Dims()
	if sol.Method == "" {
		sol.Method = "gmres"
		if rows != cols {
			sol.Method = "lsmr"
		}
	}
	method := solver.ByName(sol.Method)
	switch {
	case method == nil:
		return nil, sparse.Inputf("method", "%q takes no plan: use an iterative method, or msrep_solve_with", sol.Method)
	case opt.Deterministic && !p.plan.Deterministic():
		return nil, sparse.Inputf("flags", "MSREP_DETERMINISTIC: make the plan with this flag")
	case opt.MaxBytes != 0:
		return nil, sparse.Inputf("max_bytes", "%d: a solve with a plan has no complete factors; use 0", opt.MaxBytes)
	}
	if opt.Time > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, opt.Time)
		defer cancel()
	}
	o := solver.Options{Tol: opt.Tol, MaxIter: opt.MaxIter, Restart: opt.Restart}
	o.Progress = func(iteration int, residual float64) {
		opt.Progress(solver.Step{Iteration: iteration, Residual: residual})
	}
	var err error
	if o.Precond, err = p.preconditioner(ctx, sol.Choice); err != nil {
		return nil, err
	}
	if c, ok := o.Precond.(io.Closer); ok {
		defer c.Close()
	}
	res, err := method(ctx, p.operator(), b, x, o)
	if opt.Time > 0 && errors.Is(err, context.DeadlineExceeded) {
		d := solver.Diagnosis{Kind: solver.Limit, Text: fmt.Sprintf("the time limit of %v ended %s", opt.Time, sol.Choice)}
		err = &solver.SystemError{Diagnosis: d, Residual: math.NaN(), Err: err}
	}
	if res == nil {
		return nil, err
	}
	sol.Result = *res
	return sol, err
}

// preconditioner returns the preconditioner that c names, or nil for none.
func (p *openPlan[V]) preconditioner(ctx context.Context, c solver.Choice) (solver.Preconditioner, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	switch c.Precond {
	case "", "none":
		return nil, nil
	case "jacobi":
		return p.jacobi()
	}
	a := sparse.Convert[float64](sparse.ToCSR(p.matrix))
	size, err := c.BlockSize()
	if err != nil {
		return nil, err
	}
	switch {
	case size > 0:
		return solver.BlockJacobi(a, size)
	case c.Precond == "amg":
		return amg.New(ctx, p.sys, a, amg.Options{Deterministic: p.plan.Deterministic()})
	case c.Precond == "chebyshev":
		return amg.NewChebyshev(ctx, p.sys, a, amg.Options{Deterministic: p.plan.Deterministic()})
	}
	return c.Incomplete(ctx, a)
}
