package source

import (
	"fmt"

	"github.com/msrep-go/msrep/sparse"
)

// Inexact is the lines of a file that first have a value of a kind which a matrix of float64 cannot hold; 0 for none.
type Inexact struct {
	Infinite int64 // beyond the range of float64: read as an infinity
	Rounded  int64 // an integer that lies between two float64: read as the nearer one
}

// Merge takes what is earlier in y.
func (x *Inexact) Merge(y Inexact) {
	x.Infinite, x.Rounded = earlier(x.Infinite, y.Infinite), earlier(x.Rounded, y.Rounded)
}

// Shift counts so many lines more before each.
func (x *Inexact) Shift(lines int64) {
	for _, at := range []*int64{&x.Infinite, &x.Rounded} {
		if *at > 0 {
			*at += lines
		}
	}
}

func earlier(a, b int64) int64 {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// Apply writes a note of x into s. Rounded integers are not those of the file any more, so that the field is real.
func (x Inexact) Apply(s *sparse.Source) {
	if x.Infinite > 0 {
		AddNote(s, fmt.Sprintf("values beyond the range of float64 are read as infinities, the first in line %d", x.Infinite))
	}
	if x.Rounded > 0 {
		AddNote(s, fmt.Sprintf("integers that float64 does not hold are rounded to the nearest that it does, the first in line %d: the field is real", x.Rounded))
	}
	if x != (Inexact{}) && s.Field == sparse.Integer {
		s.Field = sparse.Real
	}
}

// AddNote adds to what the note of s says.
func AddNote(s *sparse.Source, note string) {
	if s.Note != "" {
		note = s.Note + "; " + note
	}
	s.Note = note
}
