//go:build cuda

package nvidia

import (
	"runtime"
	"sync"
	"time"

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
		for {
			job, open := awaited(w.jobs)
			if !open {
				return
			}
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
	err, _ := awaited(done)
	return err
}

// patience is how long a goroutine looks again and again for what it waits for before it
// sleeps, where there are cores to spare: to be woken takes tens of microseconds, as long as
// a product.
const (
	patience   = 100 * time.Microsecond
	sparedFrom = 8 // cores
)

// look asks there until that is true or its patience ends.
func look(there func() bool) {
	if runtime.GOMAXPROCS(0) < sparedFrom {
		return
	}
	for begin := time.Now(); !there() && time.Since(begin) < patience; {
	}
}

// awaited receives from a channel.
func awaited[T any](c chan T) (v T, open bool) {
	got := false
	look(func() bool {
		select {
		case v, open = <-c:
			got = true
		default:
		}
		return got
	})
	if !got {
		v, open = <-c
	}
	return v, open
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
