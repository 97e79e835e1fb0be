package probe

import (
	"fmt"
	"math"
)

// Pace follows the residual of an attempt of Solve and ends the attempt when it is expected to take more than patience times as
// long as the next one. It counts iterations instead of time, so that it decides the same on every machine.
type Pace struct {
	Most int         // iterations that cost as much as the next attempt; 0 means no bound
	Tol  float64     // relative residual to reach
	Stop func(error) // ends the attempt
	best []float64   // least residual up to each iteration
}

// SlowError is the error of an attempt that Pace ended.
type SlowError struct {
	Done, Expected int // iterations: made, and expected in all
	Most           int // Pace.Most
}

func (e *SlowError) Error() string {
	if e.Stalled() {
		return fmt.Sprintf("stalled: the residual did not fall in the second half of %d iterations", e.Done)
	}
	return fmt.Sprintf("too slow: about %d iterations expected after %d; the next attempt takes as long as %d", e.Expected, e.Done, e.Most)
}

// stalled is SlowError.Expected of an attempt whose residual does not fall.
const stalled = 1e9

// Stalled reports that the residual did not fall.
func (e *SlowError) Stalled() bool { return e.Expected >= stalled }

// patience is the factor by which an attempt may be expected to take longer than the next one, because convergence often
// becomes faster.
const patience = 2

// Record decides after an iteration; history has the relative residuals of all iterations so far.
func (p *Pace) Record(history []float64) {
	if p.Most == 0 {
		return
	}
	least := history[len(history)-1]
	if n := len(p.best); n > 0 {
		least = min(least, p.best[n-1])
	}
	p.best = append(p.best, least)
	k := len(p.best)
	if k < max(p.Most/5, 8) {
		return
	}
	if expected := p.expected(); expected > float64(patience*p.Most) || k > p.Most && expected > float64(k+p.Most/2) {
		p.Stop(&SlowError{k, int(min(expected, stalled)), p.Most})
	}
}

// expected returns the number of iterations to the tolerance, if the residual goes on to fall as it did in the second
// half of the iterations.
func (p *Pace) expected() float64 {
	k := len(p.best)
	now, before := p.best[k-1], p.best[k/2]
	if now <= p.Tol {
		return float64(k)
	}
	rate := math.Log(before/now) / float64(k-1-k/2)
	if !(rate > 0) {
		return math.Inf(1)
	}
	return float64(k) + math.Log(now/p.Tol)/rate
}
