//go:build cgo

package main

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/solver"
	"github.com/msrep-go/msrep/sparse"
)

var errHandle = errors.New("no such handle")

// table gives out handles. A number is never used twice, so that one that was closed
// is known to be stale.
type table struct {
	mu   sync.Mutex
	last uint64
	open map[uint64]closer
}

type closer interface{ Close() error }

var handles = table{open: map[uint64]closer{}}

func (t *table) add(c closer) uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last++
	t.open[t.last] = c
	return t.last
}

// get finds what a handle stands for.
func get[T closer](h uint64) (found T, err error) {
	handles.mu.Lock()
	defer handles.mu.Unlock()
	found, ok := handles.open[h].(T)
	if !ok {
		return found, fmt.Errorf("%w: %d was never given out for this, or is closed", errHandle, h)
	}
	return found, nil
}

// close releases a plan, or a system with its plans.
func (t *table) close(h uint64) error {
	t.mu.Lock()
	c := t.open[h]
	delete(t.open, h)
	for k, o := range t.open {
		if p, ok := o.(*openPlan); ok && p.system == h {
			delete(t.open, k)
		}
	}
	t.mu.Unlock()
	if c == nil {
		return fmt.Errorf("%w: %d was never given out, or is closed", errHandle, h)
	}
	return c.Close()
}

type openSystem struct{ sys *msrep.System }

// Close closes the plans of the system as well.
func (s *openSystem) Close() error { return s.sys.Close() }

// openPlan is a plan with the matrix that it was made of.
type openPlan struct {
	system uint64
	plan   *msrep.Plan[float64]

	mu     sync.Mutex // of the values of matrix, and jacobi
	matrix *sparse.CSR[float64]
	jacobi solver.Preconditioner // nil before it is asked for
}

func (p *openPlan) Close() error { return p.plan.Close() }

func (p *openPlan) update(val []float64) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.plan.UpdateValues(context.Background(), val); err != nil {
		return err
	}
	p.matrix.Val, p.jacobi = val, nil
	return nil
}

func (p *openPlan) solve(method, precond int, b, x []float64, opt solver.Options) (*solver.Result, error) {
	methods := []solver.Method{solver.CG, solver.BiCGSTAB, solver.GMRES}
	if method < 0 || method >= len(methods) {
		return nil, sparse.Inputf("method", "%d: use MSREP_CG, MSREP_BICGSTAB or MSREP_GMRES", method)
	}
	switch precond {
	case 0:
	case 1:
		var err error
		if opt.Precond, err = p.diagonal(); err != nil {
			return nil, err
		}
	default:
		return nil, sparse.Inputf("precond", "%d: use MSREP_NO_PRECOND or MSREP_JACOBI", precond)
	}
	return methods[method](context.Background(), p.plan, b, x, opt)
}

func (p *openPlan) diagonal() (solver.Preconditioner, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.jacobi == nil {
		var err error
		if p.jacobi, err = solver.Jacobi(p.matrix); err != nil {
			return nil, err
		}
	}
	return p.jacobi, nil
}
