package search

import (
	"fmt"
	"math"
	"time"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels/cpu/internal/forms"
)

// probeShare is the fraction of a piece that is built to see how long building the whole takes, in at most probes
// stretches of at least probeRows rows.
const (
	probeShare = 1. / 16
	probes     = 4
	probeRows  = 1 << 10
)

// cached reports whether the rows in plain CSR fit the last cache together with x, so that all of them are timed. The
// model of the forms in the caches then decides when a form is tried, and whether.
func (s *search[V]) cached() bool {
	const line = 64 // bytes of x that an entry brings to the cache, at most
	x := min(mem.Size[V]()*int64(s.Minors), line*s.NNZ())
	return s.NNZ()*(4+mem.Size[V]())+x <= lastCache()
}

// brief reports whether the rows stay in the last cache and the caller stated the number of products. A candidate
// then has no probe, and few products are timed. Otherwise the search has a budget, and a candidate is built on some
// rows to see whether the whole fits in it.
func (s *search[V]) brief() bool { return s.op.Products > 0 && s.cached() }

// inCSR converts a time to products of plain CSR.
func (s *search[V]) inCSR(t time.Duration) float64 { return float64(t) / float64(s.csr) }

// mayRepay fails if a candidate is not even worth building on a few rows.
func (s *search[V]) mayRepay(c forms.Candidate[V]) error {
	best, spent := s.inCSR(s.best.product), s.inCSR(s.spent)
	switch {
	case s.brief() && !c.Cached.Repays(s.products, best, spent):
		return skipped(fmt.Sprintf("it is not likely to repay its building: of %d products of csr, %.0f are spent", s.products, spent))
	case s.cached() && !s.brief() && !c.Cached.Repays(manyProducts, best, 0):
		return skipped(fmt.Sprintf("it is not likely to be faster than %s", s.best.Form))
	}
	return nil
}

// mostTimed returns the most products that are made to time a form once, at least two.
func (s *search[V]) mostTimed() int {
	switch {
	case s.brief():
		return max(2, s.products/100)
	case s.op.Products == 0:
		return math.MaxInt
	}
	return max(2, 3*s.products/100)
}

// probe builds a candidate on a few rows to see whether building all of them fits in the budget, and returns how long
// that should take. A brief search has no probes: the time is then unbounded.
func (s *search[V]) probe(c forms.Candidate[V]) (building time.Duration, err error) {
	if s.brief() {
		return math.MaxInt64, nil
	}
	rows := cut(s.choosing, probeShare, probes, probeRows)
	fraction := max(float64(entries(rows)), 1) / float64(s.NNZ())
	t, err := s.afford(c, rows, fraction)
	if err != nil {
		return 0, err
	}
	return time.Duration(float64(t.took) / fraction), t.mem.Free()
}

// afford builds a candidate on rows with the given fraction of all entries, if building the whole fits in the budget.
// It tries again if it does not fit: something else may have delayed the first attempt.
func (s *search[V]) afford(c forms.Candidate[V], rows [][]stretch[V], fraction float64) (t trial[V], err error) {
	for range 2 {
		if t, err = s.build(c, s.rows(rows), s.newArena(fraction)); err != nil {
			return t, err
		}
		if err = s.affords(c, time.Duration(float64(t.took)/fraction), int64(float64(t.mem.Bytes())/fraction)); err == nil {
			s.spent += t.took
			return t, nil
		}
		if failed := t.mem.Free(); failed != nil {
			return t, failed
		}
	}
	return t, err
}

// affords fails if building the whole, with the given time and memory, is over the budget. The time spent so far is
// counted as if nothing had delayed it: products at their least time. Memory counts as the time in which a product of
// csr reads as much. The time that the system takes to provide it is not counted, as it is not known before: in a
// virtual machine it may be ten times as long.
func (s *search[V]) affords(c forms.Candidate[V], building time.Duration, bytes int64) error {
	csrBytes := (4+mem.Size[V]())*s.NNZ() + 8*int64(s.Majors())
	building += time.Duration(float64(s.csr) * float64(bytes) / float64(csrBytes))
	if s.op.Products == 0 && building < DefaultBudget/4 {
		return nil // there are few candidates: the time spent says more about the machine
	}
	if s.spent+building > s.budget(c) {
		csr := float64(s.csr)
		return skipped(fmt.Sprintf("building it would take %.0f products of csr; of the budget of %.0f, %.0f are spent",
			float64(building)/csr, float64(s.budget(c))/csr, float64(s.spent)/csr))
	}
	return nil
}

// budget returns the time that the search may take if it ends with this candidate. It is doubled if no number of
// products was stated: otherwise a machine that is slow for a moment would decide for a form that is slow forever. It
// does not grow beyond that of manyProducts products, unless these take so little time that the budget would measure
// such moments.
func (s *search[V]) budget(c forms.Candidate[V]) time.Duration {
	of := func(products int) time.Duration { return time.Duration(c.Budget(products) * float64(s.csr)) }
	if s.op.Products == 0 {
		return max(2*of(defaultProducts), DefaultBudget)
	}
	return min(of(s.products), max(of(manyProducts), DefaultBudget))
}

const manyProducts = 1000
