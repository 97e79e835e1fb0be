package diagonals

import (
	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/sparse"
)

// Name is the name of diagonals.
const Name = "diagonals"

// Kind returns what diagonals say of themselves.
func Kind[V sparse.Value]() form.Kind[V] {
	return form.Kind[V]{
		Name: Name,
		Look: func(r form.Rows[V], l *form.Look) {
			e, err := EstimateDiagonals(r, DiagonalOptions[V]{Level: simd.Default()})
			l.Estimate(Name, e, err)
		},
		Suit: suit[V],
		New: func(r form.Rows[V], o form.Options[V]) (form.Form[V], error) {
			return NewDiagonals(r, DiagonalOptions[V]{Level: o.Level, Values: o.Values})
		},
		Fixed: true,
		Test:  form.Test[V]{Patterns: []string{"diagonals", "stencil"}, MayRefuse: form.AnyRows[V]},
	}
}

// suit suggests diagonals for rows that consist of them.
func suit[V sparse.Value](l *form.Look) []form.Candidate[V] {
	e := l.Estimates[Name]
	if e == nil {
		return nil
	}
	cost := cached(e.EntryBytes-float64(mem.Size[V]()), l.EntriesPerRow())
	return []form.Candidate[V]{{Bytes: e.EntryBytes, Cached: cost, Why: e.String()}}
}

// cached returns the cost in the caches of diagonals that take the given bytes for each entry beside its value, for
// rows with the given mean number of entries. The shorter the rows, the longer csr takes for an entry.
func cached(bytes, entries float64) form.Cached {
	empty := max(bytes, 0) // for padding, masks, and patterns with few rows
	return form.Cached{Product: .15 + .06*empty + min(.006*entries, .3), Build: 7 + 6*empty}
}
