package msrep

import (
	"context"
	"sync"

	"github.com/msrep-go/msrep/sparse"
)

// SpMV computes y = alpha*op(A)*x + beta*y once, on all devices of the machine.
//
// op(A) is m x n, x has n elements, y has m. x and y must not overlap. beta = 0 overwrites y without reading it. SpMV
// validates a. Bad arguments give a *sparse.InputError and leave y unchanged. After any other error y is unspecified.
//
// Each call splits the matrix again: to multiply more than once, make a Plan. The first call opens the devices, and
// they stay open. If this fails, the next call tries again.
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

// defaultSystem has all devices and stays open. Its plans are not placed, because a copy of the matrix costs more
// than a single product saves.
var defaultSystem = lazySystem{open: func() (*System, error) { return Open(Config{NUMA: NUMAOff}) }}

// lazySystem is a System that the first call of get opens. If this fails, the next call tries again.
type lazySystem struct {
	open func() (*System, error)
	mu   sync.Mutex
	sys  *System
}

func (l *lazySystem) get() (*System, error) {
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
