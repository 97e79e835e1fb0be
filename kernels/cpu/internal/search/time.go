package search

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/msrep-go/msrep/kernels/cpu/internal/workers"
)

// burstTime and trialTime are how long products are timed. Single products are too short for the clock, and the least
// time of many is what the machine can do.
const (
	burstTime = 20 * time.Microsecond
	trialTime = 200 * time.Microsecond
)

// A form that fits the last cache stays there only after five to ten products, each faster than the one before. It is
// timed until settled bursts in a row are not faster, which takes about settlingProducts products.
const (
	settled          = 3
	settlingProducts = 10
)

// time returns the least time of a product of the sample, and the scatter of the times that were nearly as short.
func (s *search[V]) time(t trial[V]) (product time.Duration, scatter float64, err error) {
	// The first product touches y and brings the form to the caches, which a sample of the rows leaves again.
	warm := 0
	if s.fraction == 1 || s.csr == 0 {
		warm = 1
		if _, err := s.burst(t, warm); err != nil {
			return 0, 0, err
		}
	}
	of, err := s.least(t, s.mostTimed())
	s.spent += time.Duration(warm+of.made) * of.least
	return max(of.least, 1), of.scatter(), err
}

// least returns the least time of a product among those of trialTime, or of more until the time has settled, and the
// number of products: at least two and at most most. Every worker makes products of its own rows, one after the other
// without giving its CPU away or waiting for the others; the slowest worker counts. A worker that loses its CPU
// therefore delays no other, and the effect of the others on its caches is over after some products.
func (s *search[V]) least(t trial[V], most int) (slowest settling, err error) {
	workers := make([]settling, len(s.sample))
	err = s.inBursts(t, func(i int, burst func(n int) time.Duration) {
		workers[i].run(most, s.cached(), burst)
	})
	return slices.MaxFunc(workers, func(a, b settling) int { return cmp.Compare(a.least, b.least) }), err
}

// settling is products of one worker that are timed until their time has settled.
type settling struct {
	least time.Duration // of a product
	made  int
	short [3]time.Duration // shortest times of a product, by burst; 0 if there were fewer bursts
}

// scatter returns the logarithm of the longest of the shortest times over the least.
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

// run makes bursts of products, most products in all at most. Products in the caches have to settle.
func (w *settling) run(most int, cached bool, burst func(n int) time.Duration) {
	w.least = math.MaxInt64
	spent, same := time.Duration(0), 0
	for n := 1; w.made < 2 || (spent < trialTime || cached && same < settled) && w.made < most; {
		took := burst(n)
		w.made += n
		spent += max(took, time.Duration(n)) // ends also with a clock that stands still
		product := max(took/time.Duration(n), 1)
		if same++; product < w.least-w.least/32 {
			same = 0
		}
		w.least = min(w.least, product)
		w.note(product)
		n = min(int(burstTime/w.least)+1, max(most-w.made, 1))
	}
}

// timeContender sets the time of a product of a contender. Where few products are timed and the contender is not
// faster than the best form, something may have delayed it: it is timed again. If it is still not faster, the best
// form is timed again, too, as the delay may last.
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

// burst returns how long the slowest worker takes for n products of a trial.
func (s *search[V]) burst(t trial[V], n int) (took time.Duration, err error) {
	all := make([]time.Duration, len(s.sample))
	err = s.inBursts(t, func(i int, burst func(n int) time.Duration) { all[i] = burst(n) })
	return slices.Max(all), err
}

// inBursts calls f(0, ...) ... f(n-1, ...) on the workers. burst makes n products of the rows of worker i and returns
// how long they took.
func (s *search[V]) inBursts(t trial[V], f func(i int, burst func(n int) time.Duration)) error {
	rows := s.sample
	w, err := s.Mem.Pool.Timed(len(rows), func(i int) {
		f(i, func(n int) time.Duration {
			begin := workers.WorkTime()
			for range n {
				for k, st := range rows[i] {
					t.forms[i][k].Multiply(1, 0, s.x, s.y[st.y:st.y+len(st.rows.Ptr)-1])
				}
			}
			return workers.WorkTime() - begin
		})
	})
	s.wanted, s.lost = s.wanted+w.Wanted, s.lost+w.Lost
	return err
}
