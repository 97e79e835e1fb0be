//go:build cuda

package nvidia

import (
	"runtime"
	"sync"

	"github.com/msrep-go/msrep/kernels"
)

// worker is an OS thread that runs jobs in order.
type worker struct {
	mu     sync.RWMutex // held for writing to close jobs
	jobs   chan func()
	closed bool
	ended  chan struct{}
}

// queued bounds the jobs that wait: enough for the calls of many products.
const queued = 1024

// newWorker starts a thread that first runs begin.
func newWorker(begin func()) *worker {
	w := &worker{jobs: make(chan func(), queued), ended: make(chan struct{})}
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		defer close(w.ended)
		begin()
		for job := range w.jobs {
			job()
		}
	}()
	return w
}

// post hands a job over and does not wait for it.
func (w *worker) post(job func()) error {
	w.mu.RLock()
	defer w.mu.RUnlock()
	if w.closed {
		return kernels.ErrClosed
	}
	w.jobs <- job
	return nil
}

// call runs f on the thread and gives its error.
func (w *worker) call(f func() error) error {
	done := make(chan error, 1)
	if err := w.post(func() { done <- f() }); err != nil {
		return err
	}
	return <-done
}

// stop ends the thread after the jobs that wait. It may be called again.
func (w *worker) stop() {
	w.mu.Lock()
	if !w.closed {
		w.closed = true
		close(w.jobs)
	}
	w.mu.Unlock()
	<-w.ended
}
