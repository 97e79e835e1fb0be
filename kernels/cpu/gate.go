package cpu

import (
	"sync/atomic"
	"time"
)

// spinTime is how long a thread looks for what it waits for before it sleeps: to be
// woken takes from 5 microseconds to 100 on a virtual machine, as long as a product
// of 10,000 to 200,000 entries, and there is work between two products of a solver.
const spinTime = 100 * time.Microsecond

// wakeTime is more than it takes to wake a thread. Who waits for one that may just be
// woken looks for it so long: if both slept, each would have to be woken each time.
const wakeTime = 2 * spinTime

// politeTime is how long a thread that looks keeps the CPU to itself. Whoever it waits
// for may be on the same one, and only threads that want to run are moved to another.
const politeTime = 2 * time.Microsecond

// A thread that gives way for longer than lostTime has lost its CPU to another thread.
// After that many waits in a row in which it did, and where the one it waits for gave way
// on this CPU last, it looks for another: Linux may leave the two there for a tenth of a
// second beside an idle CPU.
const (
	lostTime = 5 * time.Microsecond
	lostMost = 3
)

// gate is where one goroutine waits for a condition that others bring about.
//
// Where there is a CPU for each thread, its thread sleeps, and is woken by the system:
// Go's scheduler would queue the goroutine behind the one that wakes it, on the same
// thread, until an idle thread comes to take it over, which lasts longer than many
// products. Where there is not, the goroutine sleeps, and the thread is free for others.
type gate struct {
	asleep atomic.Uint32        // awake, or which of the two sleeps, or is about to
	wake   chan struct{}        // holds one: for the goroutine
	lost   int                  // waits in a row in which the CPU was lost
	cpu    atomic.Int32         // on which its thread gave way last
	shared func(cpu int32) bool // whether the one it waits for gave way there last
}

const (
	awake = iota
	threadAsleep
	goroutineAsleep
)

func newGate() gate {
	return gate{wake: make(chan struct{}, 1), shared: func(int32) bool { return false }}
}

// wait returns once ready, which reads atomic variables only. Before it sleeps it
// looks again and again for so long.
func (g *gate) wait(ready func() bool, spin time.Duration) {
	if ready() || g.look(ready, spin) {
		return
	}
	how := uint32(goroutineAsleep)
	if spin > 0 && threadsPark {
		how = threadAsleep
	}
	for {
		g.asleep.Store(how)
		if ready() && g.asleep.CompareAndSwap(how, awake) {
			return
		}
		// Until open, which found it asleep.
		if how == threadAsleep {
			park(&g.asleep, how)
		} else {
			<-g.wake
		}
		if ready() {
			return
		}
		// open was late: it meant the time before, whose end was seen without it.
	}
}

// look looks for so long whether it is ready.
func (g *gate) look(ready func() bool, spin time.Duration) bool {
	lost, polite := 0, false
	for begin := time.Now(); spin > 0; {
		for range 32 { // to read the clock takes as long
			if ready() {
				if g.lost != lost { // to write it takes the line from those that open
					g.lost = lost
				}
				return true
			}
		}
		waited := time.Since(begin)
		if waited >= spin {
			break
		}
		if waited > politeTime {
			if !polite {
				polite = true
				g.cpu.Store(currentCPU())
			}
			yield()
			if lost == 0 && time.Since(begin)-waited > lostTime {
				if lost = g.lost + 1; lost >= lostMost && g.shared(g.cpu.Load()) {
					leaveCPU()
				}
			}
		}
	}
	g.lost = 0
	return false
}

// open wakes who sleeps. Whoever calls it has made it ready before.
func (g *gate) open() {
	how := g.asleep.Load()
	if how == awake || !g.asleep.CompareAndSwap(how, awake) {
		return
	}
	if how == threadAsleep {
		unpark(&g.asleep)
	} else {
		g.wake <- struct{}{}
	}
}
