//go:build cgo

package main

import (
	"cmp"
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

// table maps handles to open systems and plans. Numbers are never reused, which makes a closed handle recognizable.
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

// addPlan adds a plan. It closes the plan and returns an error if the system was closed while the plan was made.
func (t *table) addPlan(p owned) (uint64, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.open[p.owner()] == nil {
		return 0, errors.Join(fmt.Errorf("%w: %d was closed while the plan was made", errHandle, p.owner()), p.Close())
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

// close releases a plan, or a system with its plans.
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
	return c.Close()
}

type openSystem struct{ sys *msrep.System }

// Close closes the system and its plans.
func (s *openSystem) Close() error { return s.sys.Close() }

// openPlan is a plan with its matrix.
type openPlan[V sparse.Value] struct {
	system uint64
	plan   *msrep.Plan[V]

	values sync.RWMutex // a solve reads the values under the read lock from start to end
	matrix *sparse.CSR[V]
	jacobi func() (solver.Preconditioner, error)
}

func newOpenPlan[V sparse.Value](system uint64, plan *msrep.Plan[V], matrix *sparse.CSR[V]) *openPlan[V] {
	p := &openPlan[V]{system: system, plan: plan, matrix: matrix}
	p.forget()
	return p
}

// forget discards the preconditioner; the next call of jacobi builds a new one.
func (p *openPlan[V]) forget() {
	p.jacobi = sync.OnceValues(func() (solver.Preconditioner, error) { return solver.Jacobi(sparse.Convert[float64](p.matrix)) })
}

// solvable is an openPlan with values of either type.
type solvable interface {
	owned
	solve(method, precond int, b, x []float64, opt solver.Options) (*solver.Result, error)
}

func (p *openPlan[V]) Close() error { return p.plan.Close() }

func (p *openPlan[V]) owner() uint64 { return p.system }

// update copies val and makes it the values of the plan.
func (p *openPlan[V]) update(val []V) error {
	p.values.Lock()
	defer p.values.Unlock()
	if int64(len(val)) != p.matrix.NNZ() { // before the values are read
		return sparse.Inputf("val", "%d values: the matrix has %d entries", len(val), p.matrix.NNZ())
	}
	val = slices.Clone(val)
	if err := p.plan.UpdateValues(context.Background(), val); err != nil {
		return err
	}
	p.matrix.Val = val
	p.forget()
	return nil
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

func (p *openPlan[V]) solve(method, precond int, b, x []float64, opt solver.Options) (*solver.Result, error) {
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
	if n := p.matrix.Rows; len(b) == n && len(x) == n { // the solver refuses other lengths
		if err := cmp.Or(touch("b", b, false), touch("x", x, true)); err != nil {
			return nil, err
		}
	}
	return methods[method](context.Background(), p.operator(), b, x, opt)
}

// multiply computes y = alpha*op(A)*x + beta*y.
func (p *openPlan[V]) multiply(op msrep.Transpose, alpha V, x []V, beta V, y []V) error {
	rows, cols := p.matrix.Rows, p.matrix.Cols
	if op == msrep.Trans {
		rows, cols = cols, rows
	}
	if len(x) == cols && len(y) == rows { // SpMV refuses other lengths
		if err := cmp.Or(touch("x", x, false), touch("y", y, true)); err != nil {
			return err
		}
	}
	err := p.plan.SpMV(context.Background(), op, alpha, x, beta, y)
	return err
}
