package form

import "github.com/msrep-go/msrep/sparse"

// An estimate for diagonals looks at an eighth of the rows, within these limits in one place.
// mostDiagonals is the most entries that it lets them have on average: to bring longer ones
// together takes longer than it is worth.
const (
	mostDiagonalStretch = 512
	mostDiagonals       = 1 << 12
	// The most bytes for each entry, beside its value, with which diagonals may be faster than
	// slices, and some more that few rows may take in all.
	worthDiagonals = 3.5
	spareDiagonals = 1 << 12
)

// EstimateDiagonals is the estimate for NewDiagonals. It fails with a
// *sparse.InputError where NewDiagonals would, as far as the sample shows.
func EstimateDiagonals[V sparse.Value](r Rows[V], o DiagonalOptions[V]) (Estimate, error) {
	if err := r.noChunks(); err != nil {
		return Estimate{}, err
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

// estimateDiagonals is the estimate for values that vary along diagonals, or for the same ones.
func estimateDiagonals[V sparse.Value](r Rows[V], o DiagonalOptions[V], same bool) (Estimate, error) {
	b := newDiagonalBuilder(r, o.Level, same)
	sample := diagonalSample[V]{b: b, value: o.Values.Bytes()}
	if same {
		sample.value = 0
	}
	rows := len(r.Ptr) - 1
	stretch := min(max(rows/(8*samples)/b.lanes, 1)*b.lanes, mostDiagonalStretch)
	done := 0
	for s := range samples {
		first := s * rows / samples / b.lanes * b.lanes
		if first < done {
			continue
		}
		for done = first; done < min(first+stretch, rows); done += b.lanes {
			if err := sample.add(done, min(done+b.lanes, rows)); err != nil {
				return Estimate{}, err
			}
		}
	}
	return sample.estimate(0), sample.check(0, 0)
}

// diagonalSample is the diagonals of a sample of the rows.
type diagonalSample[V sparse.Value] struct {
	b       *diagonalBuilder[V]
	value   float64 // bytes of one
	entries int64   // of the rows so far
}

// add takes the rows of a slice. It fails where these, or all so far, are not worth diagonals.
func (s *diagonalSample[V]) add(first, end int) error {
	ptr := s.b.r.Ptr
	n := ptr[end] - ptr[first]
	if n > int64(s.b.lanes)*mostDiagonals {
		return sparse.Inputf("matrix", "no diagonals: %d entries in %d rows", n, end-first)
	}
	s.entries += n
	if err := s.check(widest(ptr, first, end), spareDiagonals); err != nil { // at least so many columns
		return err
	}
	if err := s.b.add(first, end); err != nil {
		return err
	}
	return s.check(0, spareDiagonals)
}

// check fails where the rows so far, with more columns, take too many bytes beside those that are spared.
func (s *diagonalSample[V]) check(more int64, spared float64) error {
	if s.estimate(more).EntryBytes <= s.value+worthDiagonals+spared/float64(max(s.entries, 1)) {
		return nil
	}
	return sparse.Inputf("matrix", "no diagonals: the %d entries looked at would take %d places or more", s.entries, s.places(more))
}

// estimate is that of the rows so far, with more columns.
func (s *diagonalSample[V]) estimate(more int64) Estimate {
	out, places := &s.b.out, s.places(more)
	bytes := float64(places)*s.value + 2*float64(s.b.masks) + 32*float64(len(out.Runs)) + 8*float64(len(out.Offsets))
	return estimate(bytes, places, s.entries)
}

// places is the places of the rows so far, with more columns.
func (s *diagonalSample[V]) places(more int64) int64 { return (s.b.columns + more) * int64(s.b.lanes) }
