package cpu

import (
	"fmt"
	"math"
	"time"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels/cpu/inspect"
)

// The share of a piece that tells what building the whole takes, in at most so many
// stretches of at least so many rows.
const (
	probeShare = 1. / 16
	probes     = 4
	probeRows  = 1 << 10
)

// cached reports whether the rows in plain CSR fit the last cache, so that all of them are timed: then
// what is known of a form decides when it is tried, and whether.
func (s *search[V]) cached() bool { return s.part.NNZ() <= sampleSize[V]()/sampleCaches }

// brief reports whether all of the rows stay in the last cache and the number of products was
// stated: then a candidate has no probe, and few products are timed. Otherwise the search has a
// budget, and a candidate is built on some rows to see whether the whole fits in it.
func (s *search[V]) brief() bool { return s.op.Products > 0 && s.cached() }

// inCSR is a time in products of plain CSR.
func (s *search[V]) inCSR(t time.Duration) float64 { return float64(t) / float64(s.csr) }

// mayRepay fails where a candidate is not even worth building on a few rows.
func (s *search[V]) mayRepay(c inspect.Candidate[V]) error {
	best, spent := s.inCSR(s.best.product), s.inCSR(s.spent)
	switch {
	case s.brief() && !c.Cached.Repays(s.products, best, spent):
		return skipped(fmt.Sprintf("it is not likely to repay making it: of %d products of csr, %.0f are spent", s.products, spent))
	case s.cached() && !s.brief() && !c.Cached.Repays(manyProducts, best, 0):
		return skipped(fmt.Sprintf("it is not likely to be faster than %s", s.best.Form))
	}
	return nil
}

// mostTimed is the most products that are made to time a form once, two at least.
func (s *search[V]) mostTimed() int {
	switch {
	case s.brief():
		return max(2, s.products/100)
	case s.op.Products == 0:
		return math.MaxInt
	}
	return max(2, 3*s.products/100)
}

// probe builds a candidate on a few rows to see whether building it on all of them
// fits in the budget, and how long that should take: any time in a brief search, which has no probes.
func (s *search[V]) probe(c inspect.Candidate[V]) (building time.Duration, err error) {
	if s.brief() {
		return math.MaxInt64, nil
	}
	rows := cut(s.packed, probeShare, probes, probeRows)
	share := max(float64(entries(rows)), 1) / float64(s.part.NNZ())
	t, err := s.afford(c, rows, share)
	if err != nil {
		return 0, err
	}
	return time.Duration(float64(t.took) / share), t.mem.free()
}

// afford builds a candidate on rows that have a share of all entries, if building the
// whole fits in the budget then. It tries again where it does not: something else may
// have held up the first time.
func (s *search[V]) afford(c inspect.Candidate[V], rows [][]stretch[V], share float64) (t trial[V], err error) {
	for range 2 {
		if t, err = s.build(c, s.rows(rows), s.newArena(share)); err != nil {
			return t, err
		}
		if err = s.affords(c, time.Duration(float64(t.took)/share), int64(float64(t.mem.bytes())/share)); err == nil {
			s.spent += t.took
			return t, nil
		}
		if failed := t.mem.free(); failed != nil {
			return t, failed
		}
	}
	return t, err
}

// affords fails where building the whole, which takes so long and so much memory, is
// over the budget. What was spent is counted as if nothing else had held up the
// machine meanwhile: products at their least time. Memory counts as long as a product of
// csr takes to read as much. How long the system takes to provide it is not known
// before, and not counted: in a virtual machine it may be ten times as long.
func (s *search[V]) affords(c inspect.Candidate[V], building time.Duration, bytes int64) error {
	csrBytes := (4+mem.Size[V]())*s.part.NNZ() + 8*int64(s.part.Majors())
	building += time.Duration(float64(s.csr) * float64(bytes) / float64(csrBytes))
	if s.op.Products == 0 && building < defaultBudget/4 {
		return nil // there are few candidates: what was spent says more about the machine
	}
	if s.spent+building > s.budget(c) {
		csr := float64(s.csr)
		return skipped(fmt.Sprintf("making it would take %.0f products of csr; of the budget of %.0f, %.0f are spent",
			float64(building)/csr, float64(s.budget(c))/csr, float64(s.spent)/csr))
	}
	return nil
}

// budget is the time that the search may take if it ends with this candidate. Where
// no number of products was stated it is doubled: a machine that is slow for a moment
// would else decide for a form that is slow for good. It does not grow with more products
// than manyProducts, unless these take so little time that it would measure such moments.
func (s *search[V]) budget(c inspect.Candidate[V]) time.Duration {
	of := func(products int) time.Duration { return time.Duration(c.Budget(products) * float64(s.csr)) }
	if s.op.Products == 0 {
		return max(2*of(defaultProducts), defaultBudget)
	}
	return min(of(s.products), max(of(manyProducts), defaultBudget))
}

const manyProducts = 1000
