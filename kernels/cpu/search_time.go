package cpu

import (
	"cmp"
	"math"
	"slices"
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
	settled          = 3
	settlingProducts = 10
)

// time is the least time of a product of the sample, or for a trial of all rows its part of
// that, and by how much times that were nearly as short are apart.
func (s *search[V]) time(t trial[V]) (product time.Duration, scatter float64, err error) {
	// The first product brings the form to the caches, which a sample of the rows leaves
	// again, and touches y.
	warm := 0
	if s.share == 1 || s.csr == 0 {
		warm = 1
		if _, err := s.burst(t, warm); err != nil {
			return 0, 0, err
		}
	}
	of, err := s.least(t, s.mostTimed())
	s.spent += time.Duration(warm+of.made) * of.least
	return s.ofSample(t, of.least), of.scatter(), err
}

// least is the least time of a product among those of trialTime, or of more until it has
// settled, and the number of them: two at least, and no more than most. Every worker makes products of its own rows,
// one after the other without giving its CPU away or waiting for the others; the slowest counts. So one that
// loses its CPU holds up nobody, and what the others do to its caches meanwhile is over after some products.
func (s *search[V]) least(t trial[V], most int) (slowest settling, err error) {
	workers := make([]settling, len(s.rowsOf(t)))
	err = s.inBursts(t, func(i int, burst func(n int) time.Duration) {
		workers[i].run(most, s.cached(), burst)
	})
	return slices.MaxFunc(workers, func(a, b settling) int { return cmp.Compare(a.least, b.least) }), err
}

// settling is products of one worker that are timed until their time has settled.
type settling struct {
	least time.Duration // of a product
	made  int
	short [3]time.Duration // the shortest times of bursts, by product; 0 where there were fewer
}

// scatter is the logarithm of the longest of the shortest times over the least.
func (w *settling) scatter() float64 {
	if w.short[0] == 0 {
		return 0
	}
	return math.Log(float64(slices.Max(w.short[:])) / float64(w.short[0]))
}

// note keeps the time of a product if it is one of the shortest.
func (w *settling) note(product time.Duration) {
	for i, have := range w.short {
		if have == 0 || product < have {
			copy(w.short[i+1:], w.short[i:])
			w.short[i] = product
			return
		}
	}
}

// run makes bursts of products, of at most so many in all. Those that stay in the caches have to settle there.
func (w *settling) run(most int, cached bool, burst func(n int) time.Duration) {
	w.least = math.MaxInt64
	spent, same := time.Duration(0), 0
	for n := 1; w.made < 2 || (spent < trialTime || cached && same < settled) && w.made < most; {
		took := burst(n)
		w.made += n
		spent += max(took, time.Duration(n)) // also by a clock that stands still
		product := max(took/time.Duration(n), 1)
		if same++; product < w.least-w.least/32 {
			same = 0
		}
		w.least = min(w.least, product)
		w.note(product)
		n = min(int(burstTime/w.least)+1, max(most-w.made, 1))
	}
}

// timeContender sets the time of a product of a contender. Where few products are timed and it is not
// faster than the best, something may have held them up: it has a second try, and then so has the best, as what holds
// products up may not be over.
func (s *search[V]) timeContender(c *contender[V]) (err error) {
	c.product, c.scatter, err = s.time(c.trial)
	if err != nil || !s.brief() || c.product < s.best.product {
		return err
	}
	second, scatter, err := s.time(c.trial)
	if second < c.product {
		c.product, c.scatter = second, scatter
	}
	if err != nil || c.product < s.best.product {
		return err
	}
	best, bestScatter, err := s.time(s.best.trial)
	if second <= best {
		c.product, c.scatter, s.best.product, s.best.scatter = second, scatter, best, bestScatter
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

// rowsOf is the rows of a trial: the sample, or all.
func (s *search[V]) rowsOf(t trial[V]) [][]stretch[V] {
	if t.whole {
		return s.all
	}
	return s.sample
}

// burst is how long n products of a trial take the slowest worker.
func (s *search[V]) burst(t trial[V], n int) (took time.Duration, err error) {
	all := make([]time.Duration, len(s.rowsOf(t)))
	err = s.inBursts(t, func(i int, burst func(n int) time.Duration) { all[i] = burst(n) })
	return slices.Max(all), err
}

// inBursts calls f(0, ...) ... f(n-1, ...) on the workers, where burst makes products of the rows of worker i and
// tells how long they took.
func (s *search[V]) inBursts(t trial[V], f func(i int, burst func(n int) time.Duration)) error {
	rows := s.rowsOf(t)
	w, err := s.dev.pool.timed(len(rows), func(i int) {
		f(i, func(n int) time.Duration {
			begin := workTime()
			for range n {
				for k, st := range rows[i] {
					t.forms[i][k].Multiply(1, 0, s.x, s.y[st.y:st.y+len(st.rows.Ptr)-1])
				}
			}
			return workTime() - begin
		})
	})
	s.wanted, s.lost = s.wanted+w.wanted, s.lost+w.lost
	return err
}
