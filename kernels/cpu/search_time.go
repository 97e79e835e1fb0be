package cpu

import (
	"math"
	"slices"
	"time"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu/simd"
)

// makeVectors makes x and y, and fills of x what products read.
func (s *search[V]) makeVectors(read [][]stretch[V]) (err error) {
	const apart = 64 // elements, so that they do not end up at the same place of a page
	rows := int64(s.part.OwnEnd - s.part.OwnFirst)
	n := int64(s.minors) + apart + rows
	b, err := s.vectorMemory(n*mem.Size[V](), entries(read) <= entries(s.sample))
	if err != nil {
		return err
	}
	all, _ := mem.Slice[V](b, n)
	s.x, s.y = all[:s.minors], all[int64(s.minors)+apart:]
	return s.fillX(read)
}

// vectorMemory gives memory that s.vec holds: kept one where all rows are timed, and in small
// pages where only the rows of a sample, which may read and write a little here and there.
func (s *search[V]) vectorMemory(bytes int64, small bool) ([]byte, error) {
	if s.share == 1 {
		s.vec = arena{newSlab(s.dev, bytes, bytes)}
		return s.vec[0].take(bytes)
	}
	buf, err := s.dev.Alloc(bytes)
	if err != nil {
		return nil, err
	}
	s.vec = arena{{dev: s.dev, rest: []kernels.Buffer{buf}}}
	b, err := s.dev.View(buf)
	if err == nil && small && bytes >= mem.MinMapped {
		mem.AdviseSmall(b)
	}
	return b, err
}

// fillX sets the elements of x that some rows read to 1.
func (s *search[V]) fillX(read [][]stretch[V]) error {
	spans := make([][][2]int, len(read))
	err := s.dev.pool.run(len(read), func(i int) {
		for _, st := range read[i] {
			if len(st.rows.Idx) > 0 {
				lo, hi := simd.MinMax(simd.Default(), st.rows.Idx)
				spans[i] = append(spans[i], [2]int{max(int(lo), 0), min(int(hi)+1, len(s.x))})
			}
		}
	})
	if err != nil {
		return err
	}
	all := slices.Concat(spans...)
	slices.SortFunc(all, func(a, b [2]int) int { return a[0] - b[0] })
	done := 0
	for _, span := range all {
		lo, hi := max(span[0], done), span[1]
		if lo >= hi {
			continue
		}
		x, n := s.x[lo:hi], len(s.pieces)
		done = hi
		if err := s.dev.pool.run(n, func(i int) {
			x := x[par.Cut(int64(len(x)), n, i):par.Cut(int64(len(x)), n, i+1)]
			for k := range x {
				x[k] = 1
			}
		}); err != nil {
			return err
		}
	}
	return nil
}

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

// near reports whether the rows in plain CSR fit the last cache.
func (s *search[V]) near() bool { return s.part.NNZ() <= sampleSize[V]()/sampleCaches }

// time is the least time of a product of the sample, or for a trial of all rows its part of
// that. It takes few products where few were announced.
func (s *search[V]) time(t trial[V]) (time.Duration, error) {
	most := max(2, 3*s.products/100)
	switch {
	case s.brief():
		most = max(2, s.products/100)
	case s.op.Products == 0:
		most = math.MaxInt
	}
	// The first product brings the form to the caches, which a sample of the rows leaves
	// again, and touches y.
	warm := 0
	if s.share == 1 || s.csr == 0 {
		warm = 1
		if _, err := s.burst(t, warm); err != nil {
			return 0, err
		}
	}
	least, made, err := s.least(t, most)
	s.spent += time.Duration(warm+made) * least
	return s.ofSample(t, least), err
}

// least is the least time of a product among those of trialTime, or of more until it has
// settled, and the number of them: two at least, and no more than most.
func (s *search[V]) least(t trial[V], most int) (least time.Duration, made int, err error) {
	least = math.MaxInt64
	spent, same := time.Duration(0), 0
	for n := 1; made < 2 || (spent < trialTime || s.near() && same < settled) && made < most; made += n {
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

// duelRounds is how often two forms that are close are timed once more in turn.
const duelRounds = 4

// again times a contender and the best in turn where the budget allows it: a slow moment
// of the machine then hits both. It ends with the first round in which the one that is
// ahead is so by more than a seventh, as it was before. Otherwise only these rounds
// count: what was measured before may have been so in a better moment. Forms that are
// not within a seventh of one another may take only a little of what is left. In the last
// cache each has the products that it takes to settle there, as the other one drove it out.
func (s *search[V]) again(c *contender[V]) error {
	best := &s.best
	n := int(burstTime/best.product) + 1
	both := s.ofTrial(c.trial, c.product) + s.ofTrial(best.trial, best.product)
	cost := duelRounds * time.Duration(n) * both
	left := s.budget(c.Candidate) - s.spent
	if s.share < 1 {
		left -= max(c.building, best.building)
	}
	if s.brief() {
		left /= 4
	}
	clear := far(c.product, best.product) || far(best.product, c.product)
	switch round := 2*trialTime + settling*both; {
	case s.near() && clear:
		cost = 2 * round // the first one is the last, as a rule
	case s.near():
		cost = duelRounds * round
	case clear:
		left /= 8
	}
	if cost > left {
		return nil
	}
	var least, spent [2]time.Duration
	for i := range least {
		least[i] = math.MaxInt64
	}
	for range duelRounds {
		var round [2]time.Duration
		for _, i := range []int{1, 0} { // what held up the contender before may not be over
			t := [2]trial[V]{c.trial, best.trial}[i]
			product, made, err := s.inTurn(t, n)
			if err != nil {
				return err
			}
			spent[i] += time.Duration(made)
			round[i] = s.ofSample(t, product)
			least[i] = min(least[i], round[i])
		}
		if far(round[0], round[1]) && far(c.product, best.product) || far(round[1], round[0]) && far(best.product, c.product) {
			least[0], least[1] = min(least[0], c.product), min(least[1], best.product)
			break
		}
	}
	s.spent += spent[0]*s.ofTrial(c.trial, min(c.product, least[0])) + spent[1]*s.ofTrial(best.trial, min(best.product, least[1]))
	c.product, best.product = least[0], least[1]
	return nil
}

// inTurn is a product's time in a round of a duel, and how many were made: the mean of n, or
// in the last cache the least of those until it has settled.
func (s *search[V]) inTurn(t trial[V], n int) (product time.Duration, made int, err error) {
	if s.near() {
		return s.least(t, math.MaxInt)
	}
	took, err := s.burst(t, n)
	return took / time.Duration(n), n, err
}

// far reports whether a is longer than b by more than a seventh.
func far(a, b time.Duration) bool { return a > b+b/7 }

// burst is how long n products of a trial take.
func (s *search[V]) burst(t trial[V], n int) (time.Duration, error) {
	rows := s.sample
	if t.whole {
		rows = s.all
	}
	begin := now()
	for range n {
		err := s.dev.pool.run(len(rows), func(i int) {
			for k, st := range rows[i] {
				t.forms[i][k].Multiply(1, 0, s.x, s.y[st.y:st.y+len(st.rows.Ptr)-1])
			}
		})
		if err != nil {
			return 0, err
		}
	}
	return now().Sub(begin), nil
}
