package solver

import (
	"math"

	"github.com/msrep-go/msrep/solver/internal/space"
)

// maxAhead is the largest number of iterations that CG queues on devices before it waits for their residuals. The wait
// takes as long as a few kernels.
const maxAhead = 8

// iterateAhead runs iterations of CG whose scalars the devices compute. It returns nil once the recurrence claims
// convergence.
//
// The devices stop at the iteration that the loop of the host would end with: iterations that are queued after it change
// neither x nor its residual, and count in Products only.
func (t *task) iterateAhead(c *space.CG, rz float64) error {
	c.Start(rz)
	first := len(t.res.History) - 1
	for ahead := 1; ; ahead = t.nextAhead(first, ahead) {
		// The look that follows is the one at which the host ends a solve with too many iterations, or without progress.
		ahead = max(1, min(ahead, t.opt.MaxIter-t.res.Iterations, t.bestAt+t.window-t.res.Iterations))
		for range ahead {
			if err := t.Ended(); err != nil {
				return err
			}
			c.Iterate()
		}
		squares, rz, pq := c.Look()
		if err := t.Failed(); err != nil {
			return err
		}
		for _, rr := range squares {
			if near, err := t.recordIteration(math.Sqrt(rr)); near || err != nil {
				return err
			}
		}
		if len(squares) < ahead {
			return t.convergenceError(ErrBreakdown, "%s", notPositive(rz, pq))
		}
	}
}

// nextAhead returns the number of iterations to queue after the last number. It is half of those that are left at the mean
// rate since residual first of History, so that few are queued after the last one.
func (t *task) nextAhead(first, last int) int {
	ahead := min(2*last, maxAhead)
	h := t.res.History
	now := h[len(h)-1]
	if rate := math.Log(h[first]/now) / float64(len(h)-1-first); rate > 0 { // not for a residual that has grown
		left := math.Log(now/t.opt.Tol) / rate
		ahead = min(ahead, max(1, int(min(left/2, maxAhead))))
	}
	return ahead
}
