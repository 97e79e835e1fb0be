package form

import (
	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/sparse"
)

// Kind is what a form says of itself. Package forms lists all kinds; whatever chooses, builds or tests forms reads
// that list.
type Kind[V sparse.Value] struct {
	Name kernels.Form

	// Look adds to l what rows of a piece show of how the form suits them. It is nil if the form needs only what every
	// look has.
	Look func(r Rows[V], l *Look)
	// Suit returns the candidates of the form for rows with this look, the likeliest first, or none if the form is
	// unlikely to be the fastest. It leaves Form empty, and Build nil where Kind.Build is meant. Suit is nil for forms
	// that are built only if they are named. Most tests that all forms run through leave these out; a Suit that returns
	// none keeps a form in them.
	Suit func(l *Look) []Candidate[V]

	// Build builds the form for the instructions of this processor, with values in as few bytes as hold them exactly. If
	// it is nil, New does.
	Build func(r Rows[V]) (Form[V], error)
	// New builds the form with options.
	New func(r Rows[V], o Options[V]) (Form[V], error)

	// Fixed says that the form sums in the order of the entries, and so can have sums of a fixed shape. Other forms
	// refuse rows that are Fixed.
	Fixed bool

	Test Test[V]
}

// Options are the options that forms have in common.
type Options[V sparse.Value] struct {
	Level  simd.Level
	Values ValueSet[V]
	Sizes  Sizes
}

// Sizes are the sizes of the pieces of a form, by names that the form chooses. A size that is missing or 0 is fitted to
// the caches.
type Sizes map[string]int

// Make builds the form of rows with Build, or with New if there is no Build.
func (k *Kind[V]) Make(r Rows[V]) (Form[V], error) {
	if k.Build != nil {
		return k.Build(r)
	}
	return k.New(r, Options[V]{Level: simd.Default(), Values: FindValues(r.Val)})
}

// Test is what tests must know of a form to draw it.
type Test[V sparse.Value] struct {
	// Sizes are the values of each size that tests draw. Small are sizes with which small matrices have several pieces.
	Sizes map[string][]int
	Small Sizes
	// Patterns are the patterns of package formtest that suit the form. If there are none, the form is tested with all.
	Patterns []string
	// MayRefuse reports whether the form may refuse to store rows with such sizes. If it is nil, the form stores all
	// rows.
	MayRefuse func(r Rows[V], s Sizes) bool
}

// AnyRows is the MayRefuse of forms that suit only few matrices.
func AnyRows[V sparse.Value](Rows[V], Sizes) bool { return true }
