package form

import "fmt"

// Look is what samples show of the rows of a piece, or of all pieces of a matrix. The zero value is a piece without
// entries.
type Look struct {
	Rows, NNZ int
	Plain     bool    // no storage suits the values but plain values, or 57 bits
	Wide      bool    // x has more than WideX bytes
	Misses    float64 // FirstCacheMisses
	// Estimates are those of the forms that suit the rows, by the names of the forms: the worst of all pieces, and none
	// if a form does not suit a piece.
	Estimates map[string]*Estimate
	// Shares are fractions that the forms find, by names of theirs: the means of all pieces.
	Shares map[string]float64
}

// From these fractions of entries that miss x in the first cache, forms are tried that bring x there.
const (
	OftenMissed  = 0.2
	MostlyMissed = 0.5
)

// WideX is the size of x in bytes up to which slices are tried before tiles. They are then as fast or faster, and
// built sooner if the budget does not suffice for both. It is the second cache of Zen 4 and Zen 5, on which that was
// measured.
const WideX = 1 << 20

// EntriesPerRow returns the mean number of entries in a row.
func (l *Look) EntriesPerRow() float64 { return float64(l.NNZ) / float64(max(l.Rows, 1)) }

// Missed says how many entries miss x.
func (l *Look) Missed() string {
	return fmt.Sprintf("%.0f %% of the entries would miss x in the first cache", 100*l.Misses)
}

// Estimate adds the estimate of a form, unless err says that the rows do not suit it.
func (l *Look) Estimate(name string, e Estimate, err error) {
	if err != nil {
		return
	}
	if l.Estimates == nil {
		l.Estimates = map[string]*Estimate{}
	}
	l.Estimates[name] = &e
}

// Share adds a fraction.
func (l *Look) Share(name string, fraction float64) {
	if l.Shares == nil {
		l.Shares = map[string]float64{}
	}
	l.Shares[name] = fraction
}
