package cpu

import (
	"sync/atomic"
	"time"
)

// spinTime is how long a thread looks for what it waits for before it sleeps: to be
// woken takes from 5 microseconds to 100 on a virtual machine, as long as a product
// of 10,000 to 200,000 entries.
const spinTime = 20 * time.Microsecond

// wakeTime is more than it takes to wake a thread. Who waits for one that may just be
// woken looks for it so long: if both slept, each would have to be woken each time.
const wakeTime = 10 * spinTime

// gate is where one goroutine waits for a condition that others bring about. Who
// sleeps is woken by the system itself where that can be had (parking), not by Go's
// scheduler: that would queue the goroutine behind the one that wakes it, on the same
// thread, until an idle thread comes to take it over, which lasts longer than many
// products.
type gate struct {
	asleep atomic.Uint32 // 1 if somebody sleeps, or is about to
	parking
}

func newGate() gate { return gate{parking: newParking()} }

// wait returns once ready, which reads atomic variables only. Before it sleeps it
// looks again and again for so long.
func (g *gate) wait(ready func() bool, spin time.Duration) {
	if ready() {
		return
	}
	if spin > 0 {
		for begin := time.Now(); time.Since(begin) < spin; {
			for range 32 { // to read the clock takes as long
				if ready() {
					return
				}
			}
			if spin > spinTime { // whoever it waits for may be in need of this very CPU
				yield()
			}
		}
	}
	for {
		g.asleep.Store(1)
		if ready() && g.asleep.CompareAndSwap(1, 0) {
			return
		}
		g.park(&g.asleep) // until open, which found it asleep
		if ready() {
			return
		}
		// open was late: it meant the time before, whose end was seen without it.
	}
}

// open wakes the goroutine if it sleeps. Whoever calls it has made it ready before.
func (g *gate) open() {
	if g.asleep.Load() == 1 && g.asleep.CompareAndSwap(1, 0) {
		g.unpark(&g.asleep)
	}
}
