package workers

import (
	"sync"
	"sync/atomic"
	"time"
)

// contention tells whether other threads of the program, or of other programs, want the CPUs on which workers poll. Threads
// of OpenMP poll for milliseconds after their work and do not yield. A worker that polls on the CPU of such a thread
// loses it for a whole time slice when it yields, and a job that begins meanwhile waits. A worker that sleeps is woken
// within microseconds, as it has asked for a short time slice.
type contention struct {
	always atomic.Bool  // by Pool.SleepAtOnce
	until  atomic.Int64 // when it ends, in ns since epoch; 0 before the first one

	mu   sync.Mutex
	rest time.Duration // for how long workers do not poll after the next loss of a CPU
}

// Workers that lost their CPUs do not poll for restLeast. If they lose them again soon after that, the time doubles, up
// to restMost.
const (
	restLeast = 50 * time.Millisecond
	restMost  = 2 * time.Second
)

// present reports whether workers sleep at once.
func (c *contention) present() bool {
	if c.always.Load() {
		return true
	}
	until := c.until.Load()
	return until != 0 && int64(time.Since(epoch)) < until
}

// losses returns the number of waits in a row in which a worker must lose its CPU before there is contention.
func (c *contention) losses() int {
	if c.until.Load() != 0 {
		return 1
	}
	return lostMost
}

// notice begins contention at a time since epoch.
func (c *contention) notice(now time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	last := time.Duration(c.until.Load())
	switch {
	case now < last:
		return // another worker has noticed it
	case last != 0 && now-last < c.rest:
		c.rest = min(2*c.rest, restMost)
	default:
		c.rest = restLeast
	}
	c.until.Store(int64(now + c.rest))
}
