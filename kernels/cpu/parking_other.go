//go:build !linux

package cpu

import "sync/atomic"

// parking puts a goroutine to sleep on a channel.
type parking struct {
	wake chan struct{} // holds one
}

func newParking() parking { return parking{make(chan struct{}, 1)} }

// park sleeps until unpark.
func (p parking) park(*atomic.Uint32) { <-p.wake }

// unpark wakes who sleeps, or is about to. The goroutine that follows takes its place
// as the one that this thread would run next, so that an idle thread takes it at once.
func (p parking) unpark(*atomic.Uint32) {
	p.wake <- struct{}{}
	go func() {}()
}

// yield does nothing: runtime.Gosched would have two workers share a thread.
func yield() {}
