package source

import (
	"fmt"

	"github.com/msrep-go/msrep/sparse"
)

// Inexact holds the first lines of a file with values that float64 cannot hold, or 0.
type Inexact struct {
	Infinite int64 // value beyond the range of float64, read as an infinity
	Rounded  int64 // integer between two float64 values, read as the nearer one
}

// Merge keeps the earlier lines of x and y.
func (x *Inexact) Merge(y Inexact) {
	x.Infinite, x.Rounded = earlier(x.Infinite, y.Infinite), earlier(x.Rounded, y.Rounded)
}

// Shift adds lines to the line numbers.
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

// Apply adds a note about x to s and changes the field Integer to Real, because rounded
// integers are no longer those of the file.
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

// AddNote appends note to the note of s.
func AddNote(s *sparse.Source, note string) {
	if s.Note != "" {
		note = s.Note + "; " + note
	}
	s.Note = note
}
