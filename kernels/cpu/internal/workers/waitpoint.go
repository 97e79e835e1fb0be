package workers

import (
	"sync/atomic"
	"time"

	"github.com/msrep-go/msrep/internal/par"
)

// SpinTime is how long a thread polls before it sleeps. Waking a thread takes 5 to 100 microseconds on a virtual
// machine, as long as a product of 10,000 to 200,000 entries, and a solver has other work between two products.
const SpinTime = 100 * time.Microsecond

// wakeTime is longer than waking a thread takes. A thread that waits for one that may just be woken polls that long:
// if both slept, each would have to be woken each time.
const wakeTime = 2 * SpinTime

// yieldAfter is how long a polling thread keeps the CPU to itself. The thread it waits for may be on the same CPU,
// and Linux moves only threads that want to run to another one.
const yieldAfter = 2 * time.Microsecond

// A thread whose yield takes longer than lostTime has lost its CPU to another thread. After lostMost waits in a row
// in which it did, it looks for another CPU if the thread that it waits for yielded on the same CPU last: Linux may
// leave the two there for a tenth of a second beside an idle CPU.
const (
	lostTime = 5 * time.Microsecond
	lostMost = 3
)

// waitPoint is where one goroutine waits for a condition that others make true.
//
// If there is a CPU for each thread, the goroutine's thread sleeps, and the system wakes it. Go's scheduler would
// queue the goroutine behind the goroutine that wakes it, on the same thread, until an idle thread takes it over,
// which lasts longer than many products. Otherwise the goroutine sleeps, and its thread is free for others.
type waitPoint struct {
	asleep     atomic.Uint32        // awake, or what sleeps, is about to sleep or is being woken
	wake       chan struct{}        // wakes the goroutine; holds one
	lost       int                  // number of waits in a row in which the CPU was lost
	cpu        atomic.Int32         // the CPU on which its thread yielded last
	shared     func(cpu int32) bool // whether the thread it waits for yielded on that CPU last
	contention *contention          // learns that other threads want the CPU; may be nil
	thread     sleeper              // if a thread sleeps
}

const (
	awake = iota
	threadAsleep
	waking // a thread
	goroutineAsleep
)

func newWaitPoint() waitPoint {
	return waitPoint{wake: make(chan struct{}, 1), shared: func(int32) bool { return false }}
}

// wait returns once ready returns true. ready reads atomic variables only. wait polls for the given time before it
// sleeps. It reports whether open had to wake it.
func (g *waitPoint) wait(ready func() bool, spin time.Duration) (woken bool) {
	if ready() || g.poll(ready, spin) {
		return false
	}
	how := uint32(goroutineAsleep)
	if spin > 0 && threadsPark {
		how = threadAsleep
	}
	for {
		g.asleep.Store(how)
		if ready() && g.asleep.CompareAndSwap(how, awake) {
			return false
		}
		// Until open, which found it asleep.
		if how == threadAsleep {
			g.thread.park(&g.asleep)
		} else {
			<-g.wake
		}
		if ready() {
			return true
		}
		// open was late: it belonged to the wait before, whose end was noticed by polling.
	}
}

// poll polls for the given time and reports whether the condition is true.
func (g *waitPoint) poll(ready func() bool, spin time.Duration) bool {
	lost, yielding, suspects, switches := 0, false, false, int64(0)
	for begin := time.Now(); spin > 0; {
		for range 32 { // reading the clock takes as long
			if ready() {
				if g.lost != lost { // writing it takes the cache line from the threads that call open
					g.lost = lost
				}
				return true
			}
		}
		waited := time.Since(begin)
		if waited >= spin {
			break
		}
		if waited > yieldAfter {
			if !yielding {
				yielding = true
				g.cpu.Store(currentCPU())
				if suspects = g.contention != nil && g.lost+1 >= g.contention.losses(); suspects {
					switches = threadSwitches()
				}
			}
			par.Yield()
			if lost == 0 && time.Since(begin)-waited > lostTime {
				lost = g.lost + 1
				if lost >= lostMost && g.shared(g.cpu.Load()) {
					leaveCPU()
				} else if suspects && threadSwitches() > switches {
					g.contention.notice(time.Since(epoch))
					break
				}
			}
		}
	}
	g.lost = 0
	return false
}

// open wakes the waiting goroutine, if it sleeps, and reports whether it did. The caller has made the condition true
// before. If open returns true, and the goroutine has not gone to sleep since the condition became true, wait returns
// true.
func (g *waitPoint) open() (woken bool) {
	switch how := g.asleep.Load(); {
	case how == threadAsleep && g.asleep.CompareAndSwap(how, waking):
		here := int32(-1)
		if g.contention == nil || !g.contention.present() {
			here = currentCPU()
		}
		g.thread.wake(&g.asleep, here)
	case how == goroutineAsleep && g.asleep.CompareAndSwap(how, awake):
		g.wake <- struct{}{}
	default:
		return false
	}
	return true
}
