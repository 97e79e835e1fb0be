package triangular

import (
	"runtime"
	"sync/atomic"
)

// The first worker solves the phases in order. The far entries of phase k need the rows of the phases before k-1: the
// others may add them while the first worker solves phase k-1.
//
//	first worker   near 0 | near 1 | near 2          | near 3          | ...
//	others                         far 3, far 4 ...
//
// In a triangle that is stored by levels, all entries of phase k need the rows of phase k-1, and all workers share them.
//
// Each worker takes the next piece that nobody took. The first worker waits only for pieces that another one took and
// is adding now. So a solve ends even if the other workers start late, or after it.

// phaseState is how far the far entries of a phase are.
type phaseState struct {
	taken, added atomic.Int32 // numbers of pieces
	_            [56]byte
}

// spins is the number of reads of a variable after which a waiting worker lets other goroutines run.
const spins = 1 << 10

// pipeline solves for one vector on several workers.
func (t *Triangle[V]) pipeline(alpha V, b, x []V) error {
	for k := range t.state {
		t.state[k].taken.Store(0)
		t.state[k].added.Store(0)
	}
	t.ready.Store(0)
	workers := min(t.dev.Pool.Size, 1+farPieces)
	return t.dev.Pool.Run(workers, func(w int) {
		if w > 0 {
			t.ahead(alpha, b, x)
			return
		}
		defer t.ready.Store(int64(len(t.phases))) // after a panic, too: ends the others
		for k := range t.phases {
			p := &t.phases[k]
			for t.takeFar(k, alpha, b, x) {
			}
			pieces := int32(len(p.far))
			wait(func() bool { return t.state[k].added.Load() >= pieces })
			t.near(p, alpha, b, x)
			t.ready.Store(int64(k + 1))
		}
	})
}

// ahead adds far entries until all are taken.
func (t *Triangle[V]) ahead(alpha V, b, x []V) {
	lag := 1
	if t.order != nil {
		lag = 0
	}
	for k := range t.phases {
		wait(func() bool { return t.ready.Load() >= int64(k-lag) })
		for t.takeFar(k, alpha, b, x) {
		}
	}
}

// takeFar adds a piece of the far entries of a phase. It returns false if none is left.
func (t *Triangle[V]) takeFar(k int, alpha V, b, x []V) bool {
	far, s := t.phases[k].far, &t.state[k]
	if int(s.taken.Load()) >= len(far) {
		return false
	}
	i := int(s.taken.Add(1)) - 1
	if i >= len(far) {
		return false
	}
	defer s.added.Add(1) // after a panic, too
	t.segments(far[i], alpha, b, x)
	return true
}

// wait returns once ready returns true.
func wait(ready func() bool) {
	for i := 1; !ready(); i++ {
		if i%spins == 0 {
			runtime.Gosched()
		}
	}
}
