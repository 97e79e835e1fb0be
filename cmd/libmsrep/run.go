//go:build cgo

package main

// #include "shim.h"
import "C"

import (
	"context"
	"errors"
	"sync"
	"time"
	"unsafe"
)

// errStopped is the error of a call that msrep_stop or a callback ended.
var errStopped = errors.New("stopped")

var (
	errByProgress = &stopError{"progress returned a value other than 0"}
	errByStop     = &stopError{"msrep_stop ended the call"}
)

type stopError struct{ why string }

func (e *stopError) Error() string { return e.why }

func (e *stopError) Unwrap() error { return errStopped }

const (
	// pollEvery is the time between two calls of progress without an iteration.
	pollEvery = 20 * time.Millisecond
	// A call that was stopped waits this long for its work to end: iterations end soon and leave their last iterate.
	// Other work has no result to wait for.
	iterating, other = 100 * time.Millisecond, 10 * time.Millisecond
)

// runs are the calls that msrep_stop and msrep_close can end.
var runs = struct {
	mu      sync.Mutex
	running map[*run]bool
}{running: map[*run]bool{}}

// run is a call that can be stopped by the handles of its system and of its object.
type run struct {
	system, object uint64
	ctx            context.Context
	cancel         context.CancelCauseFunc
	// usesCaller says that the work uses memory or threads of the caller: the call returns only when the work has ended.
	usesCaller bool
}

// begin returns a run. The caller calls end.
func begin(system, object uint64) *run {
	ctx, cancel := context.WithCancelCause(context.Background())
	r := &run{system: system, object: object, ctx: ctx, cancel: cancel}
	runs.mu.Lock()
	defer runs.mu.Unlock()
	runs.running[r] = true
	return r
}

func (r *run) end() {
	r.cancel(nil)
	runs.mu.Lock()
	defer runs.mu.Unlock()
	delete(runs.running, r)
}

// cause returns err, or the reason if it says that the context of the run has ended.
func (r *run) cause(err error) error {
	if errors.Is(err, context.Canceled) && r.ctx.Err() != nil {
		return context.Cause(r.ctx)
	}
	return err
}

// stop ends the runs of a handle with an error.
func stop(h uint64, cause error) {
	runs.mu.Lock()
	defer runs.mu.Unlock()
	for r := range runs.running {
		if r.system == h || r.object == h {
			r.cancel(cause)
		}
	}
}

// progress is a callback of the caller; its function may be nil.
type progress struct {
	f   C.msrep_progress
	arg unsafe.Pointer
}

// step is an iteration that the work has reported.
type step struct {
	iteration int
	residual  float64
}

// supervise runs work in another goroutine, and the callback in this one, whose thread is that of the caller. It returns
// the error of work. If msrep_stop, msrep_close or the callback ends the run, the context of work ends, and the error is the reason.
// Work that does not end soon after goes on alone, and ended is false; if r.usesCaller is set, supervise waits for it.
// Such work runs in this goroutine if there is no callback.
func (r *run) supervise(callback progress, work func(ctx context.Context, report func(iteration int, residual float64)) error) (last step, ended bool, err error) {
	last.residual = 1
	if r.ctx.Err() != nil {
		return last, false, context.Cause(r.ctx)
	}
	if r.usesCaller && callback.f == nil {
		return last, true, r.cause(guard(func() error { return work(r.ctx, func(int, float64) {}) }))
	}
	steps := make(chan step, 1024)
	report := func(iteration int, residual float64) {
		select {
		case steps <- step{iteration, residual}:
		case <-r.ctx.Done():
		}
	}
	done := make(chan error, 1)
	go func() {
		done <- guard(func() error { return work(r.ctx, report) })
	}()

	show := func() {
		if callback.f != nil && C.call_progress(callback.f, C.int64_t(last.iteration), C.double(last.residual), callback.arg) != 0 {
			r.cancel(errByProgress)
		}
	}
	var poll, late <-chan time.Time
	if callback.f != nil {
		t := time.NewTicker(pollEvery)
		defer t.Stop()
		poll = t.C
	}
	stopped := r.ctx.Done()
	for {
		select {
		case err = <-done:
			for len(steps) > 0 && r.ctx.Err() == nil {
				last = <-steps
				show()
			}
			return last, true, r.cause(err)
		case <-stopped:
			patience := other
			if last.iteration > 0 {
				patience = iterating
			}
			t := time.NewTimer(patience)
			defer t.Stop()
			stopped, poll, late = nil, nil, t.C
			if r.usesCaller {
				late = nil
			}
		case <-late:
			return last, false, context.Cause(r.ctx)
		case last = <-steps:
			if r.ctx.Err() == nil {
				show()
			}
		case <-poll:
			show()
		}
	}
}

// supervised supervises work that makes an object, and returns the object. It closes one that is made after the call has
// returned.
func supervised[T closer](r *run, callback progress, work func(ctx context.Context, report func(int, float64)) (T, error)) (T, error) {
	var (
		mu        sync.Mutex
		made      T
		there     bool // made is an object
		abandoned bool
	)
	_, ended, err := r.supervise(callback, func(ctx context.Context, report func(int, float64)) error {
		m, err := work(ctx, report)
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		if abandoned {
			return m.Close()
		}
		made, there = m, true
		return nil
	})
	mu.Lock()
	defer mu.Unlock()
	abandoned = !ended
	if err != nil && there {
		err = errors.Join(err, made.Close())
	}
	return made, err
}
