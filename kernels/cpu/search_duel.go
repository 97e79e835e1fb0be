package cpu

import (
	"math"
	"time"
)

// Two forms that are close are timed once more in turn, in duelRounds rounds, and in up to duelMost while these
// contradict each other.
const (
	duelRounds = 4
	duelMost   = 12
)

// duel times a contender and the best in turn where the budget allows it: a slow moment
// of the machine then hits both. It ends with the first round in which the one that is
// ahead is so by more than a seventh, as it was before, and by about as much. Otherwise only these rounds
// count, by the median of their ratios: what was measured before may have been so in a better moment. In the last
// cache each has the products that it takes to settle there, as the other one drove it out.
func (s *search[V]) duel(c *contender[V]) error {
	n := int(burstTime/s.best.product) + 1
	if !s.affordsDuel(c, n) {
		c.verdict = s.apart(c)
		return nil
	}
	both := [2]*contender[V]{&s.best, c} // what held up the contender before may not be over
	least := [2]time.Duration{math.MaxInt64, math.MaxInt64}
	var made [2]int
	var ratios []float64 // of the rounds
	for k := range duelMost {
		var round [2]time.Duration
		for i, b := range both {
			product, n, err := s.inTurn(b.trial, n)
			if err != nil {
				return err
			}
			made[i] += n
			round[i] = s.ofSample(b.trial, product)
			least[i] = min(least[i], round[i])
		}
		ratio, before := math.Log(float64(round[1])/float64(round[0])), s.apart(c)
		ratios = append(ratios, ratio)
		c.verdict = judged(ratios)
		if k+1 >= duelRounds && (c.verdict.clear() || s.duelIsOver(both, least, made)) {
			break
		}
		if both := min(ratio, before.ratio) > farSlower || max(ratio, before.ratio) < -farSlower; both && math.Abs(ratio-before.ratio) < agreed {
			c.verdict = verdict{(ratio + before.ratio) / 2, before.stderr}
			least[0], least[1] = min(least[0], s.best.product), min(least[1], c.product)
			break
		}
	}
	for i, b := range both {
		s.spent += s.ofDuel(b, least[i], made[i])
		b.product = least[i]
	}
	return nil
}

// ofDuel is what so many products of a contender took, whose least time is given.
func (s *search[V]) ofDuel(c *contender[V], least time.Duration, made int) time.Duration {
	return time.Duration(made) * s.ofTrial(c.trial, min(c.product, least))
}

// duelIsOver reports whether the budget has no room for more rounds.
func (s *search[V]) duelIsOver(both [2]*contender[V], least [2]time.Duration, made [2]int) bool {
	spent := s.spent
	for i, b := range both {
		spent += s.ofDuel(b, least[i], made[i])
	}
	return spent > s.budget(both[1].Candidate)
}

// affordsDuel reports whether the budget has room for a duel in rounds of n products of each form.
// Those that are not within a seventh of one another may take only a little of what is left.
func (s *search[V]) affordsDuel(c *contender[V], n int) bool {
	best := &s.best
	left := s.budget(c.Candidate) - s.spent
	if s.share < 1 {
		left -= max(c.building, best.building)
	}
	if s.brief() {
		left /= 4
	}
	both := s.ofTrial(c.trial, c.product) + s.ofTrial(best.trial, best.product)
	cost := duelRounds * time.Duration(n) * both
	apart := far(c.product, best.product) || far(best.product, c.product)
	switch round := 2*trialTime + settlingProducts*both; {
	case s.cached() && apart:
		cost = 2 * round // the first one is the last, as a rule
	case s.cached():
		cost = duelRounds * round
	case apart:
		left /= 8
	}
	return cost <= left
}

// inTurn is a product's time in a round of a duel, and how many were made: the mean of n, or
// in the last cache the least of those until it has settled.
func (s *search[V]) inTurn(t trial[V], n int) (product time.Duration, made int, err error) {
	if s.cached() {
		of, err := s.least(t, math.MaxInt)
		return of.least, of.made, err
	}
	took, err := s.burst(t, n)
	return took / time.Duration(n), n, err
}

// far reports whether a is longer than b by more than a seventh.
func far(a, b time.Duration) bool { return a > b+b/7 }
