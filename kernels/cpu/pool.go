package cpu

import (
	"fmt"
	"runtime/debug"
	"sync"
)

// pool is the workers of a device: goroutines that wait for work, and the one
// that asks for it.
type pool struct {
	mu   sync.Mutex // one job at a time
	n    int
	work chan int // worker numbers, for the goroutines that wait
	job  func(i int)
	done sync.WaitGroup

	faultMu sync.Mutex
	fault   error
}

func newPool(n int) *pool {
	p := &pool{n: n, work: make(chan int)}
	for range n - 1 {
		go func() {
			for i := range p.work {
				p.one(i)
				p.done.Done()
			}
		}()
	}
	return p
}

// run calls f(0) ... f(n-1), n at most the number of workers, and waits. A panic
// of f comes back as an error.
func (p *pool) run(n int, f func(i int)) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.job, p.fault = f, nil
	p.done.Add(n - 1)
	for i := 1; i < n; i++ {
		p.work <- i
	}
	p.one(0)
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
				p.fault = fmt.Errorf("kernel panicked: %v\n%s", r, debug.Stack())
			}
		}
	}()
	p.job(i)
}

func (p *pool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	close(p.work)
}
