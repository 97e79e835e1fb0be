//go:build cgo

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/solver"
	"github.com/msrep-go/msrep/sparse"
)

var errHandle = errors.New("no such handle")

// table maps handles to open systems, plans and factors. Numbers are never reused, which makes a closed handle recognizable.
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
	return t.put(c)
}

func (t *table) put(c closer) uint64 {
	t.last++
	t.open[t.last] = c
	return t.last
}

// addOwned adds a plan or factors. It closes them and returns an error if their system was closed while they were made.
func (t *table) addOwned(p owned) (uint64, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.open[p.owner()] == nil {
		return 0, errors.Join(fmt.Errorf("%w: %d was closed during the call", errHandle, p.owner()), p.Close())
	}
	return t.put(p), nil
}

// owned is a closer that closes with its system.
type owned interface {
	closer
	owner() uint64
}

// get returns the object of type T with handle h.
func get[T closer](h uint64) (found T, err error) {
	handles.mu.Lock()
	defer handles.mu.Unlock()
	found, ok := handles.open[h].(T)
	if !ok {
		return found, fmt.Errorf("%w: %d was never given out for this, or is closed", errHandle, h)
	}
	return found, nil
}

// close releases a plan, factors, or a system with all of these.
func (t *table) close(h uint64) error {
	t.mu.Lock()
	c := t.open[h]
	delete(t.open, h)
	for k, o := range t.open {
		if p, ok := o.(owned); ok && p.owner() == h {
			delete(t.open, k)
		}
	}
	t.mu.Unlock()
	if c == nil {
		return fmt.Errorf("%w: %d was never given out, or is closed", errHandle, h)
	}
	stop(h, fmt.Errorf("%w: %d was closed during the call", errHandle, h))
	return c.Close()
}

type openSystem struct {
	sys          *msrep.System
	runsOnCaller bool // products run on threads of the caller
}

// Close closes the system and its plans.
func (s *openSystem) Close() error { return s.sys.Close() }

// openPlan is a plan with its matrix.
type openPlan[V sparse.Value] struct {
	system uint64
	sys    *msrep.System
	plan   *msrep.Plan[V]
	borrow bool // the matrix uses arrays of the caller

	values sync.RWMutex // a solve reads the values under the read lock from start to end
	matrix sparse.Matrix[V]
	jacobi func() (solver.Preconditioner, error)
}

func newOpenPlan[V sparse.Value](system uint64, sys *msrep.System, plan *msrep.Plan[V], matrix sparse.Matrix[V], borrow bool) *openPlan[V] {
	p := &openPlan[V]{system: system, sys: sys, plan: plan, matrix: matrix, borrow: borrow}
	p.forget()
	return p
}

// forget discards the preconditioner; the next call of jacobi builds a new one.
func (p *openPlan[V]) forget() {
	p.jacobi = sync.OnceValues(func() (solver.Preconditioner, error) {
		return solver.Jacobi(sparse.Convert[float64](sparse.ToCSR(p.matrix)))
	})
}

// anyPlan is an openPlan with values of either type.
type anyPlan interface {
	owned
	describe() description
	each(n, grain int, f func(lo, hi int)) error
	method(ctx context.Context, opt solver.SolveOptions, b, x []float64) (*solver.Solution, error)
	solve(ctx context.Context, method, precond int, b, x []float64, opt solver.Options) (*solver.Result, error)
}

func (p *openPlan[V]) Close() error { return p.plan.Close() }

func (p *openPlan[V]) owner() uint64 { return p.system }

// dims returns the number of rows and columns of op(A).
func (p *openPlan[V]) dims(op msrep.Transpose) (rows, cols int) {
	rows, cols = p.plan.Dims()
	if op == msrep.Trans {
		return cols, rows
	}
	return rows, cols
}

// update makes val, or a copy of it, the values of the plan.
func (p *openPlan[V]) update(val []V) error {
	p.values.Lock()
	defer p.values.Unlock()
	if int64(len(val)) != p.matrix.NNZ() { // before the values are read
		return sparse.Inputf("val", "%d values: the matrix has %d entries", len(val), p.matrix.NNZ())
	}
	if err := touch("val", val, false); err != nil {
		return err
	}
	if !p.borrow {
		val = slices.Clone(val)
	}
	if err := p.plan.UpdateValues(context.Background(), val); err != nil {
		return err
	}
	p.matrix = withValues(p.matrix, val)
	p.forget()
	return nil
}

// withValues returns a with other values.
func withValues[V sparse.Value](a sparse.Matrix[V], val []V) sparse.Matrix[V] {
	switch a := a.(type) {
	case *sparse.CSR[V]:
		b := *a
		b.Val = val
		return &b
	case *sparse.CSC[V]:
		b := *a
		b.Val = val
		return &b
	case *sparse.COO[V]:
		b := *a
		b.Val = val
		return &b
	}
	return a // loadMatrix makes no others
}

// operator returns the plan as an operator for solvers.
func (p *openPlan[V]) operator() solver.Operator {
	switch plan := any(p.plan).(type) {
	case *msrep.Plan[float32]:
		return solver.Single(plan)
	case solver.Operator:
		return plan
	}
	return nil // V has no other types
}
