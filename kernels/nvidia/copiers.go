//go:build cuda

package nvidia

import (
	"fmt"
	"runtime"
	"sync"

	"github.com/msrep-go/msrep/numa"
)

// copiers are threads on the CPUs of one node, which copy on the host for the devices of
// the GPUs there. Threads start when there is more to copy, and end with the last device.
type copiers struct {
	cpus []int // none means all
	jobs chan func()

	mu      sync.Mutex
	threads int
	pending int // jobs that have not ended
	users   int // devices; copierPools.mu guards it
}

// copierPools has the copiers of each set of CPUs.
var copierPools = struct {
	mu sync.Mutex
	of map[string]*copiers
}{of: map[string]*copiers{}}

// joinCopiers returns the copiers of a set of CPUs, for one more device.
func joinCopiers(cpus []int) *copiers {
	copierPools.mu.Lock()
	defer copierPools.mu.Unlock()
	key := fmt.Sprint(cpus)
	c := copierPools.of[key]
	if c == nil {
		c = &copiers{cpus: cpus, jobs: make(chan func(), queued)}
		copierPools.of[key] = c
	}
	c.users++
	return c
}

// leave ends the use of the copiers by a device, which has no copies left.
func (c *copiers) leave() {
	copierPools.mu.Lock()
	defer copierPools.mu.Unlock()
	if c.users--; c.users == 0 {
		close(c.jobs)
		delete(copierPools.of, fmt.Sprint(c.cpus))
	}
}

// run runs a job on one of the threads.
func (c *copiers) run(job func()) {
	c.mu.Lock()
	most := runtime.GOMAXPROCS(0)
	if len(c.cpus) > 0 {
		most = min(most, len(c.cpus))
	}
	if c.pending++; c.pending > c.threads && c.threads < most {
		c.threads++
		go c.work()
	}
	c.mu.Unlock()
	c.jobs <- job
}

// work is one thread.
func (c *copiers) work() {
	if len(c.cpus) > 0 {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		_ = numa.Pin(c.cpus)   // the thread of the device has reported a refusal
	}
	for job := range c.jobs {
		copySlots.acquire()
		job()
		copySlots.release()
		c.mu.Lock()
		c.pending--
		c.mu.Unlock()
	}
}

// slots limits the copies that run at the same time, of all devices together, to the number of
// cores.
type slots struct {
	mu   sync.Mutex
	free sync.Cond
	used int
}

var copySlots = newSlots()

func newSlots() *slots {
	s := &slots{}
	s.free.L = &s.mu
	return s
}

func (s *slots) acquire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.used >= runtime.GOMAXPROCS(0) {
		s.free.Wait()
	}
	s.used++
}

func (s *slots) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used--
	s.free.Signal()
}
