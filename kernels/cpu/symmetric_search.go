package cpu

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/sparse"
)

// namedSymmetric packs a symmetric matrix in the form that the caller named, and returns false for any other matrix.
// again says that other values were packed before.
func (p *packed[V]) namedSymmetric(op *kernels.Packing[V], again bool) (bool, error) {
	if !p.suitsSymmetric(op) {
		return false, nil
	}
	h := namedHalf(p.halving, op)
	if h == nil {
		return false, nil
	}
	mem := p.newArena(.5)
	s, err := p.newSymmetric(op, h, mem)
	if s == nil || err != nil {
		if sparse.IsInput(err) {
			err = nil // the whole form fails with the same error
		}
		return false, errors.Join(err, mem.free())
	}
	why := "asked for"
	if again {
		why = "the values are symmetric"
	}
	return true, p.takeSymmetric(s, h.form, mem, why)
}

// takeSymmetric makes a form the form of the part.
func (p *packed[V]) takeSymmetric(s *symmetric[V], name kernels.Form, mem arena, why string) error {
	p.halving, p.symmetric, p.mem = name, s, mem
	p.info.Form, p.info.Why, p.info.Bytes, p.info.Padding = name, s.name()+": "+why, mem.bytes()+p.ends.bytes(), 0
	p.info.Symmetric = true
	for i := range s.pieces {
		p.info.Padding += s.pieces[i].rows.Padding()
	}
	return p.mem.seal()
}

// worthHalving is the time of a product of diagonals or blocks, in products of the best form, up to which storing
// half of their entries is tried. Tests replace it.
var worthHalving = 1.5

// Half of the entries take half the memory, but y is then read as well, and is not written past the caches: with
// fewer entries in a row than this, nothing is gained. A form that is not faster by 10 % is not taken: it makes plans
// longer, and it multiplies few vectors one by one.
const (
	symmetricEntries = 4
	symmetricGain    = 1.1
)

// trySymmetric packs the part with half of its entries if diagonals or blocks suit it, the budget has room for that,
// the matrix is symmetric, and the half form is faster than the best form.
func (s *search[V]) trySymmetric() (taken bool, err error) {
	b, d, half := &s.best, &s.halved, s.half
	if half == nil || !s.suitsSymmetric(s.op) || s.part.NNZ() < symmetricEntries*int64(s.minors) ||
		float64(d.product) > worthHalving*float64(b.product) {
		return false, nil
	}
	if no := s.affords(d.Candidate, half.building*d.building, mem.Size[V]()*s.part.NNZ()/2); no != nil {
		s.info.Tried = append(s.info.Tried, kernels.PackTrial{Form: half.form, Why: string(half.whole) + " suit it", Skipped: no.Error()})
		return false, nil
	}
	begin, in := now(), s.newArena(.5)
	h, err := s.newSymmetric(s.op, half, in)
	if h == nil || err != nil {
		if sparse.IsInput(err) || errors.Is(err, kernels.ErrOutOfMemory) {
			err = nil
		}
		return false, errors.Join(err, in.free())
	}
	record := kernels.PackTrial{Form: half.form, Why: "the matrix is symmetric", Bytes: in.bytes(), Build: max(now().Sub(begin)-in.waited(), 0)}
	if record.Product, err = s.timeSymmetric(h); err != nil {
		return false, errors.Join(err, in.free())
	}
	s.info.Tried = append(s.info.Tried, record)
	if symmetricGain*float64(record.Product) > float64(s.whole(b.product)) {
		return false, in.free()
	}
	why := fmt.Sprintf("%s; %.2f times as fast as csr, %.2f as %s", record.Why, float64(s.csr)/float64(record.Product), float64(s.whole(b.product))/float64(record.Product), b.Form)
	return true, errors.Join(b.mem.free(), s.takeSymmetric(h, half.form, in, why))
}

// timeSymmetric returns the least time of a product. If all rows are the sample, these products alternate with
// products of the best form.
func (s *search[V]) timeSymmetric(h *symmetric[V]) (time.Duration, error) {
	n := int(burstTime/s.whole(s.best.product)) + 1
	least := time.Duration(math.MaxInt64)
	warm, rounds := 1, pairedRounds // the first brings it to the caches
	if s.fraction < 1 {
		warm, rounds = 0, pairedRounds/2 // it leaves them again
	}
	for round := range warm + rounds {
		var took time.Duration
		run := func(n int, f func(i int)) error {
			w, err := s.dev.pool.timed(n, f)
			took += w.took
			return err
		}
		for range n {
			if err := h.multiply(run, 1, 0, s.x, s.y); err != nil {
				return 0, err
			}
		}
		if round >= warm {
			least = min(least, max(took/time.Duration(n), 1))
		}
		if s.fraction < 1 {
			continue
		}
		took, err := s.burst(s.best.trial, n)
		if err != nil {
			return 0, err
		}
		s.best.product = min(s.best.product, max(took/time.Duration(n), 1))
	}
	return least, nil
}
