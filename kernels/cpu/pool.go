package cpu

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/numa"
)

// pool is the workers of a device. Without CPUs of their own they are goroutines
// that wait for work, and the one that asks for it. With CPUs every worker is a
// goroutine that holds a thread of the system, which runs on these CPUs only.
type pool struct {
	mu     sync.Mutex // one job at a time
	closed bool
	placed bool     // the one that asks does no work itself
	work   chan int // worker numbers, for the goroutines that wait
	job    func(i int)
	done   sync.WaitGroup
	live   sync.WaitGroup // goroutines that have not ended

	faultMu sync.Mutex
	fault   error
}

// newPool starts n workers, on cpus if there are any. onRefused hears of a kernel
// that does not pin them; they then run anywhere.
func newPool(n int, cpus []int, onRefused func(error)) *pool {
	p := &pool{placed: len(cpus) > 0, work: make(chan int, n)}
	if !p.placed {
		for range n - 1 {
			p.live.Go(p.serve)
		}
		return p
	}
	pinned := make(chan error, n)
	for range n {
		p.live.Go(func() {
			// Never unlocked once pinned: the thread ends with the goroutine.
			runtime.LockOSThread()
			err := numa.Pin(cpus)
			if err != nil {
				runtime.UnlockOSThread()
			}
			pinned <- err
			p.serve()
		})
	}
	var refused error
	for range n {
		if err := <-pinned; err != nil {
			refused = err
		}
	}
	if refused != nil {
		onRefused(refused)
	}
	return p
}

func (p *pool) serve() {
	for i := range p.work {
		p.one(i)
		p.done.Done()
	}
}

// run calls f(0) ... f(n-1), n at most the number of workers, and waits. A panic
// of f comes back as an error.
func (p *pool) run(n int, f func(i int)) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return kernels.ErrClosed
	}
	if n > cap(p.work) {
		return fmt.Errorf("%w: %d pieces for %d workers", kernels.ErrArgument, n, cap(p.work))
	}
	p.job, p.fault = f, nil
	first := 1
	if p.placed {
		first = 0
	}
	p.done.Add(n - first)
	for i := first; i < n; i++ {
		p.work <- i
	}
	if !p.placed {
		p.one(0)
	}
	p.done.Wait()
	p.job = nil
	return p.fault
}

func (p *pool) one(i int) {
	defer func() {
		if r := recover(); r != nil {
			p.faultMu.Lock()
			defer p.faultMu.Unlock()
			if p.fault == nil {
				p.fault = fmt.Errorf("%w: kernel panicked: %v\n%s", kernels.ErrArgument, r, debug.Stack())
			}
		}
	}()
	p.job(i)
}

// close ends the workers and waits for them.
func (p *pool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.closed = true
		close(p.work)
		p.live.Wait()
	}
}
