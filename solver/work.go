package solver

import (
	"context"
	"time"
)

// work is the part of a space that all spaces have: context, first error and times.
type work struct {
	ctx   context.Context
	procs *processes // nil for an operator that is not Distributed
	err   error      // first error of this process

	products, precond time.Duration
	count             int // number of products
}

func (w *work) failed() error { return w.procs.failed(w.err) }

func (w *work) ended() error {
	if w.procs != nil { // the next sum checks it, for all processes
		return nil
	}
	return contextError(w.ctx)
}

// contextError returns the error of ctx if it has ended. It also compares its deadline with the clock, because the timer
// of a context can be 20 ms late where all CPUs are busy.
func contextError(ctx context.Context) error {
	if end, ok := ctx.Deadline(); ok && ctx.Err() == nil && !time.Now().Before(end) {
		return context.DeadlineExceeded
	}
	return ctx.Err()
}

// multiply runs the product f. In a Distributed operator f gets a context that does not end, because the other processes
// need the part of this one.
func (w *work) multiply(f func(ctx context.Context) error) {
	if w.failed() != nil {
		return
	}
	ctx := w.ctx
	if w.procs != nil {
		ctx = context.WithoutCancel(ctx)
	}
	t := time.Now()
	err := f(ctx)
	if w.err == nil {
		w.err = err
	}
	w.products += time.Since(t)
	w.count++
}

// precondition runs f, which applies a preconditioner, unless there was an error before.
func (w *work) precondition(f func() error) {
	if w.err != nil {
		return
	}
	t := time.Now()
	w.err = f()
	w.precond += time.Since(t)
}

func (w *work) timings() (products, precond time.Duration, count int) {
	return w.products, w.precond, w.count
}
