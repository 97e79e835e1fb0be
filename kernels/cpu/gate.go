package cpu

import (
	"sync/atomic"
	"time"
)

// spinTime is how long a thread looks for what it waits for before it sleeps: to be
// woken takes about 5 microseconds, as long as a product of 10,000 entries.
const spinTime = 20 * time.Microsecond

// gate is where one goroutine waits for a condition that others bring about.
type gate struct {
	asleep atomic.Bool
	wake   chan struct{} // holds one
}

func newGate() gate { return gate{wake: make(chan struct{}, 1)} }

// wait returns once ready, which reads atomic variables only. Before it sleeps it
// looks again and again for spinTime, if spin says so.
func (g *gate) wait(ready func() bool, spin bool) {
	if ready() {
		return
	}
	if spin {
		for begin := time.Now(); time.Since(begin) < spinTime; {
			for range 32 { // to read the clock takes as long
				if ready() {
					return
				}
			}
		}
	}
	g.asleep.Store(true)
	if ready() && g.asleep.CompareAndSwap(true, false) {
		return
	}
	<-g.wake // from open, which found it asleep
}

// open wakes the goroutine if it sleeps. Whoever calls it has made it ready before.
func (g *gate) open() {
	if g.asleep.Load() && g.asleep.CompareAndSwap(true, false) {
		g.wake <- struct{}{}
	}
}
