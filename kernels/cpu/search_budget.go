package cpu

import (
	"fmt"
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

// brief reports whether all of the rows stay in the last cache and the products are so few that
// what is known of the forms decides which of them are tried, without a probe.
func (s *search[V]) brief() bool { return s.op.Products > 0 && s.share == 1 && s.near() }

// inCSR is a time in products of plain CSR.
func (s *search[V]) inCSR(t time.Duration) float64 { return float64(t) / float64(max(s.csr, 1)) }

// probe builds a candidate on a few rows to see whether building it on all of them
// fits in the budget, and how long that should take.
func (s *search[V]) probe(c inspect.Candidate[V]) (building time.Duration, err error) {
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
		if t, err = s.tryRows(c, s.rows(rows), share); err != nil {
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

// now is replaced in tests.
var now = time.Now

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
