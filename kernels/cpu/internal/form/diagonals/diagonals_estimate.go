package diagonals

import (
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/sparse"
)

// The estimate for diagonals inspects an eighth of the rows, within these limits in each of samples ranges: fewer rows would say
// too little of small parts whose rows differ. mostDiagonals is the largest average number of entries of the rows of a slice:
// merging longer rows takes more time than diagonals save.
const (
	leastDiagonalStretch = 64
	mostDiagonalStretch  = 512
	mostDiagonals        = 1 << 12
	// worthDiagonals is the most bytes per entry, without its value, with which diagonals may be faster than slices. The
	// rows of the first ranges may take twice that, and spareDiagonals bytes more.
	worthDiagonals = 5
	spareDiagonals = 1 << 12
)

// EstimateDiagonals estimates NewDiagonals from a sample. It fails with a *sparse.InputError if the
// sample shows that NewDiagonals would.
func EstimateDiagonals[V sparse.Value](r form.Rows[V], o DiagonalOptions[V]) (form.Estimate, error) {
	if err := r.NoChunks(); err != nil {
		return form.Estimate{}, err
	}
	e, err := estimateDiagonals(r, o, false)
	if err != nil {
		return e, err
	}
	if same, err := estimateDiagonals(r, o, true); err == nil {
		return same, nil
	}
	return e, nil
}

// estimateDiagonals estimates diagonals with one value per entry, or per diagonal if same is true.
func estimateDiagonals[V sparse.Value](r form.Rows[V], o DiagonalOptions[V], same bool) (form.Estimate, error) {
	b := newDiagonalBuilder(r, o.Level, same)
	sample := diagonalSample[V]{b: b, value: o.Values.Bytes()}
	if same {
		sample.value = 0
	}
	rows := len(r.Ptr) - 1
	stretch := min(max(rows/(8*form.Samples)/b.lanes*b.lanes, leastDiagonalStretch), mostDiagonalStretch)
	done := 0
	for s := range form.Samples {
		first := s * rows / form.Samples / b.lanes * b.lanes
		if first < done {
			continue
		}
		for done = first; done < min(first+stretch, rows); done += b.lanes {
			if err := sample.add(done, min(done+b.lanes, rows)); err != nil {
				return form.Estimate{}, err
			}
		}
	}
	return sample.estimate(0), sample.check(0, worthDiagonals)
}

// diagonalSample is the diagonals of a sample of the rows.
type diagonalSample[V sparse.Value] struct {
	b       *diagonalBuilder[V]
	value   float64 // bytes of a value
	entries int64   // number of entries of the rows so far
}

// add adds the rows of a slice. It fails if this slice, or the rows so far, are not worth
// diagonals.
func (s *diagonalSample[V]) add(first, end int) error {
	ptr := s.b.r.Ptr
	n := ptr[end] - ptr[first]
	if n > int64(s.b.lanes)*mostDiagonals {
		return sparse.Inputf("matrix", "no diagonals: %d entries in %d rows", n, end-first)
	}
	s.entries += n
	spare := 2*worthDiagonals + spareDiagonals/float64(max(s.entries, 1))
	if err := s.check(form.Widest(ptr, first, end), spare); err != nil { // at least so many columns
		return err
	}
	if err := s.b.add(first, end); err != nil {
		return err
	}
	return s.check(0, spare)
}

// check fails if the rows so far, with more columns, need more than most bytes per entry without its value.
func (s *diagonalSample[V]) check(more int64, most float64) error {
	if s.estimate(more).EntryBytes <= s.value+most {
		return nil
	}
	return sparse.Inputf("matrix", "no diagonals: the %d entries inspected would need at least %d slots", s.entries, s.places(more))
}

// estimate returns the estimate of the rows so far, with more columns.
func (s *diagonalSample[V]) estimate(more int64) form.Estimate {
	out, places := &s.b.out, s.places(more)
	bytes := float64(places)*s.value + 2*float64(s.b.masks) + 32*float64(len(out.Runs)) + 8*float64(len(out.Offsets))
	return form.NewEstimate(bytes, places, s.entries)
}

// places returns the number of slots of the rows so far, with more columns.
func (s *diagonalSample[V]) places(more int64) int64 { return (s.b.columns + more) * int64(s.b.lanes) }
