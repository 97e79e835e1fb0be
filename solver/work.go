package solver

import (
	"context"
	"time"
)

// work is what every space keeps of a solve: whether it goes on, and what it took.
type work struct {
	ctx context.Context
	procs *processes // nil where this process is the only one
	err error      // the first of this process

	products, precond time.Duration
	count             int // of products
}

func (w *work) failed() error { return w.procs.failed(w.err) }

func (w *work) ended() error {
	if w.procs != nil { // a reduction finds it, for all
		return nil
	}
	return contextError(w.ctx)
}

// contextError is the error of a context that has ended. Its timer may be 20 ms late where all CPUs are
// busy, so that its deadline is looked at as well.
func contextError(ctx context.Context) error {
	if end, ok := ctx.Deadline(); ok && ctx.Err() == nil && !time.Now().Before(end) {
		return context.DeadlineExceeded
	}
	return ctx.Err()
}

// multiply runs f, a product, in which all processes take part: the context of one that
// ends must not keep it from the others.
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

// precondition runs f, which applies a preconditioner, unless something has failed.
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
