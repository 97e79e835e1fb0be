package space

import (
	"context"
	"time"
)

// work is the part of a space that all spaces have: context, first error and times.
type work struct {
	Ctx   context.Context
	procs *Processes // nil for an operator that is not Distributed
	Err   error      // first error of this process

	Products, Precond time.Duration
	count             int // number of products
}

func (w *work) Failed() error { return w.procs.failed(w.Err) }

func (w *work) Ended() error {
	if w.procs != nil { // the next sum checks it, for all processes
		return nil
	}
	return ContextError(w.Ctx)
}

// ContextError returns the error of ctx if it has ended. It also compares its deadline with the clock, because the timer
// of a context can be 20 ms late where all CPUs are busy.
func ContextError(ctx context.Context) error {
	if end, ok := ctx.Deadline(); ok && ctx.Err() == nil && !time.Now().Before(end) {
		return context.DeadlineExceeded
	}
	return ctx.Err()
}

// multiply runs the product f. In a Distributed operator f gets a context that does not end, because the other processes
// need the part of this one.
func (w *work) multiply(f func(ctx context.Context) error) {
	if w.Failed() != nil {
		return
	}
	ctx := w.Ctx
	if w.procs != nil {
		ctx = context.WithoutCancel(ctx)
	}
	t := time.Now()
	err := f(ctx)
	if w.Err == nil {
		w.Err = err
	}
	w.Products += time.Since(t)
	w.count++
}

// precondition runs f, which applies m, unless there was an error before. It runs a Collective preconditioner until all
// processes know of the error, because the other processes need the part of this one.
func (w *work) precondition(m preconditioner, f func() error) {
	if c, ok := m.(collective); ok && w.procs != nil && c.Collective() {
		if w.Failed() != nil {
			return
		}
	} else if w.Err != nil {
		return
	}
	t := time.Now()
	err := f()
	if w.Err == nil {
		w.Err = err
	}
	w.Precond += time.Since(t)
}

func (w *work) Timings() (products, precond time.Duration, count int) {
	return w.Products, w.Precond, w.count
}
