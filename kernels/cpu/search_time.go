package cpu

import (
	"math"
	"time"
)

// How long products are timed: single ones are too short for the clock, and the
// least of many is what the machine can do.
const (
	burstTime = 20 * time.Microsecond
	trialTime = 200 * time.Microsecond
)

// A form that fits the last cache is kept there only after five to ten products, each of
// them faster than the one before: it is timed until so many bursts bring nothing, which
// takes about so many products.
const (
	settled  = 3
	settling = 10
)

// time is the least time of a product of the sample, or for a trial of all rows its part of
// that.
func (s *search[V]) time(t trial[V]) (time.Duration, error) {
	// The first product brings the form to the caches, which a sample of the rows leaves
	// again, and touches y.
	warm := 0
	if s.share == 1 || s.csr == 0 {
		warm = 1
		if _, err := s.burst(t, warm); err != nil {
			return 0, err
		}
	}
	least, made, err := s.least(t, s.mostTimed())
	s.spent += time.Duration(warm+made) * least
	return s.ofSample(t, least), err
}

// least is the least time of a product among those of trialTime, or of more until it has
// settled, and the number of them: two at least, and no more than most.
func (s *search[V]) least(t trial[V], most int) (least time.Duration, made int, err error) {
	least = math.MaxInt64
	spent, same := time.Duration(0), 0
	for n := 1; made < 2 || (spent < trialTime || s.cached() && same < settled) && made < most; made += n {
		took, err := s.burst(t, n)
		if err != nil {
			return 0, made, err
		}
		spent += took
		product := max(took/time.Duration(n), 1)
		if same++; product < least-least/32 {
			same = 0
		}
		least = min(least, product)
		n = min(int(burstTime/least)+1, max(most-made-n, 1))
	}
	return least, made, nil
}

// timeContender sets the time of a product of a contender. Where few products are timed and it is not
// faster than the best, something may have held them up: it has a second try, and then so has the best, as what holds
// products up may not be over.
func (s *search[V]) timeContender(c *contender[V]) (err error) {
	c.product, err = s.time(c.trial)
	if err != nil || !s.brief() || c.product < s.best.product {
		return err
	}
	second, err := s.time(c.trial)
	c.product = min(c.product, second)
	if err != nil || c.product < s.best.product {
		return err
	}
	best, err := s.time(s.best.trial)
	if second <= best {
		c.product, s.best.product = second, best
	}
	return err
}

// ofSample is the part of the sample of what a product of a trial takes.
func (s *search[V]) ofSample(t trial[V], product time.Duration) time.Duration {
	if t.whole {
		product = time.Duration(float64(product) * s.share)
	}
	return max(product, 1)
}

// ofTrial is what a product of a trial takes when its part of the sample is given.
func (s *search[V]) ofTrial(t trial[V], sample time.Duration) time.Duration {
	if t.whole {
		return s.whole(sample)
	}
	return sample
}

// burst is how long n products of a trial take, which every worker makes of its own rows without waiting for
// the others: one of these that has no CPU at the moment holds up nobody.
func (s *search[V]) burst(t trial[V], n int) (time.Duration, error) {
	rows := s.sample
	if t.whole {
		rows = s.all
	}
	w, err := s.dev.pool.timed(len(rows), func(i int) {
		for range n {
			for k, st := range rows[i] {
				t.forms[i][k].Multiply(1, 0, s.x, s.y[st.y:st.y+len(st.rows.Ptr)-1])
			}
		}
	})
	s.wanted, s.lost = s.wanted+w.wanted, s.lost+w.lost
	return w.took, err
}
