package search

import (
	"math"
	"time"
)

// Two forms with close times are timed again, alternately: in pairedRounds rounds, and in up to mostPairedRounds
// while the rounds contradict each other.
const (
	pairedRounds     = 4
	mostPairedRounds = 12
)

// timePaired times a contender and the best form alternately if the budget allows it: a slow moment of the machine
// then hits both. It ends with the first round in which the form that was ahead is ahead by more than 1/7 again, and
// by about as much as before. Otherwise only these rounds count, by the median of their ratios, because the earlier
// times may be from a better moment. In the last cache each form has the products that it takes to settle there, as
// the other form drove it out.
func (s *search[V]) timePaired(c *contender[V]) error {
	n := int(burstTime/s.best.product) + 1
	if !s.affordsPairedTiming(c, n) {
		c.verdict = s.unpaired(c)
		return nil
	}
	both := [2]*contender[V]{&s.best, c} // what delayed the contender before may last
	least := [2]time.Duration{math.MaxInt64, math.MaxInt64}
	var made [2]int
	var ratios []float64 // of the rounds
	for k := range mostPairedRounds {
		var round [2]time.Duration
		for i, b := range both {
			product, n, err := s.roundTime(b.trial, n)
			if err != nil {
				return err
			}
			made[i] += n
			round[i] = max(product, 1)
			least[i] = min(least[i], round[i])
		}
		ratio, before := math.Log(float64(round[1])/float64(round[0])), s.unpaired(c)
		ratios = append(ratios, ratio)
		c.verdict = medianVerdict(ratios)
		if k+1 >= pairedRounds && (c.verdict.clear() || s.pairedTimingEnds(both, least, made)) {
			break
		}
		if both := min(ratio, before.ratio) > farSlower || max(ratio, before.ratio) < -farSlower; both && math.Abs(ratio-before.ratio) < agreed {
			c.verdict = verdict{(ratio + before.ratio) / 2, before.stderr}
			least[0], least[1] = min(least[0], s.best.product), min(least[1], c.product)
			break
		}
	}
	for i, b := range both {
		s.spent += s.pairedCost(b, least[i], made[i])
		b.product = least[i]
	}
	return nil
}

// pairedCost returns the time of that many products of a contender with the given least time.
func (s *search[V]) pairedCost(c *contender[V], least time.Duration, made int) time.Duration {
	return time.Duration(made) * min(c.product, least)
}

// pairedTimingEnds reports whether the budget has no room for more rounds.
func (s *search[V]) pairedTimingEnds(both [2]*contender[V], least [2]time.Duration, made [2]int) bool {
	spent := s.spent
	for i, b := range both {
		spent += s.pairedCost(b, least[i], made[i])
	}
	return spent > s.budget(both[1].Candidate)
}

// affordsPairedTiming reports whether the budget has room for paired timing with n products of each form in a round.
// Forms whose times differ by more than 1/7 may take only a little of what is left.
func (s *search[V]) affordsPairedTiming(c *contender[V], n int) bool {
	best := &s.best
	left := s.budget(c.Candidate) - s.spent
	if s.fraction < 1 {
		left -= max(c.building, best.building)
	}
	if s.brief() {
		left /= 4
	}
	both := c.product + best.product
	cost := pairedRounds * time.Duration(n) * both
	apart := far(c.product, best.product) || far(best.product, c.product)
	switch round := 2*trialTime + settlingProducts*both; {
	case s.cached() && apart:
		cost = 2 * round // the first round is usually the last
	case s.cached():
		cost = pairedRounds * round
	case apart:
		left /= 8
	}
	return cost <= left
}

// roundTime returns a product's time in a round of paired timing, and the number of products made. The time is the
// mean of n products, or in the last cache the least time until it has settled.
func (s *search[V]) roundTime(t trial[V], n int) (product time.Duration, made int, err error) {
	if s.cached() {
		of, err := s.least(t, math.MaxInt)
		return of.least, of.made, err
	}
	took, err := s.burst(t, n)
	return took / time.Duration(n), n, err
}

// far reports whether a is longer than b by more than 1/7.
func far(a, b time.Duration) bool { return a > b+b/7 }
