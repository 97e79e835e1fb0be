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
	mu     sync.RWMutex // locked for writing to close jobs
	jobs   chan func()
	closed bool
	ended  chan struct{}
}

// queued limits the number of waiting jobs. It holds the calls of many products.
const queued = 1024

// newWorker starts a thread, which first runs begin.
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

// post queues a job and does not wait for it.
func (w *worker) post(job func()) error {
	w.mu.RLock()
	defer w.mu.RUnlock()
	if w.closed {
		return kernels.ErrClosed
	}
	w.jobs <- job
	return nil
}

// call runs f on the thread and returns its error.
func (w *worker) call(f func() error) error {
	done := make(chan error, 1)
	if err := w.post(func() { done <- f() }); err != nil {
		return err
	}
	err, _ := awaited(done)
	return err
}

// pollTime is how long a goroutine polls before it sleeps, if there are enough cores.
// Waking a sleeping goroutine takes tens of microseconds, as long as a product.
const pollTime = 100 * time.Microsecond

// poll polls there until it is true or pollTime is over.
func poll(there func() bool) {
	if !spins() {
		return
	}
	for begin := time.Now(); !there() && time.Since(begin) < pollTime; {
	}
}

// awaited receives from a channel, polling first.
func awaited[T any](c chan T) (v T, open bool) {
	got := false
	poll(func() bool {
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

// stop ends the thread after the queued jobs. It may be called again.
func (w *worker) stop() {
	w.mu.Lock()
	if !w.closed {
		w.closed = true
		close(w.jobs)
	}
	w.mu.Unlock()
	<-w.ended
}
