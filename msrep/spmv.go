package msrep

import (
	"context"
	"sync"

	"github.com/msrep-go/msrep/sparse"
)

// SpMV computes y = alpha*op(A)*x + beta*y once, on all devices of the machine.
//
// op(A) is m x n; x has n elements and y has m, and they must not overlap. beta = 0
// overwrites y without reading it. a is checked first; bad arguments are
// *sparse.InputError and leave y alone. After any other error y is unspecified.
//
// Each call splits the matrix anew: to multiply more than once, make a Plan. The first
// one opens the devices, which stay open; where that fails, the next one tries again.
func SpMV[V sparse.Value](ctx context.Context, op Transpose, alpha V, a sparse.Matrix[V], x []V, beta V, y []V) error {
	sys, err := defaultSystem.get()
	if err != nil {
		return err
	}
	plan, err := NewPlan(ctx, sys, a, PlanOptions{Expected: Expected{Products: 1}})
	if err != nil {
		return err
	}
	defer plan.Close()
	err = plan.SpMV(ctx, op, alpha, x, beta, y)
	return err
}

// defaultSystem has all devices and stays open. Nothing is placed: a copy of the
// matrix would cost more than a single product saves.
var defaultSystem = lateSystem{open: func() (*System, error) { return Open(Config{NUMA: NUMAOff}) }}

// lateSystem is a System that is opened when it is wanted for the first time, and where
// that fails at the next time again.
type lateSystem struct {
	open func() (*System, error)
	mu   sync.Mutex
	sys  *System
}

func (l *lateSystem) get() (*System, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.sys != nil {
		return l.sys, nil
	}
	sys, err := l.open()
	if err != nil {
		return nil, err
	}
	l.sys = sys
	return sys, nil
}
