package partition

import (
	"sync/atomic"

	"github.com/msrep-go/msrep/internal/par"
)

// MaxParts is the largest number of parts that a matrix can be split into.
const MaxParts = 1 << 20

// cut is a border between two parts: the first entry and the first owned major after it.
type cut struct {
	idx int64
	own int
}

// cutter splits a part of a matrix by a rule.
type cutter struct {
	whole Part
	// work is the number of units to distribute: entries, majors, or both together.
	work int64
	// at returns the cut after the first d units of the work, 0 <= d <= work.
	at func(d int64) cut
	// locate sets StartMajor, EndMajor and StartFlag of a part. It returns false if they
	// cannot be right because the matrix is not in order.
	locate func(p *Part) bool
	// orderErr is the error for cuts that decrease because the matrix is not in order.
	orderErr error
}

// partsPerGoroutine is the least number of parts that pays for starting a goroutine: a
// part takes 0.3 microseconds, or 3 if no pointer is in a cache, and waking another core
// takes 5 or more.
const partsPerGoroutine = 16

// equal makes n parts with equal amounts of work.
func (c *cutter) equal(n int) ([]Part, error) {
	return c.cut(n, n, func(i int) int { return i })
}

// cut makes n parts. The work is divided into sum equal units; part i begins after
// before(i) of them. before increases from before(0) = 0 to before(n) = sum. Parts are
// independent of each other, so several goroutines make them if there are enough parts.
func (c *cutter) cut(n, sum int, before func(i int) int) ([]Part, error) {
	border := func(i int) cut {
		switch units := before(i); units {
		case 0:
			return cut{c.whole.StartIdx, c.whole.OwnFirst}
		case sum:
			return cut{c.whole.EndIdx + 1, c.whole.OwnEnd}
		default:
			return c.at(par.Cut(c.work, sum, units))
		}
	}
	out := make([]Part, n)
	var unordered atomic.Bool
	par.Range(int64(n), partsPerGoroutine, func(lo, hi int64) {
		from := border(int(lo))
		for i := int(lo); i < int(hi); i++ {
			to := border(i + 1)
			out[i] = Part{StartIdx: from.idx, EndIdx: to.idx - 1, OwnFirst: from.own, OwnEnd: to.own}
			if from.idx > to.idx || from.own > to.own || !c.locate(&out[i]) {
				unordered.Store(true)
				return
			}
			from = to
		}
	})
	if unordered.Load() {
		return nil, c.orderErr
	}
	return out, nil
}
