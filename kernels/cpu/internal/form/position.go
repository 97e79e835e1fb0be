package form

// Position is a position in Slices.
type Position struct{ Slice, Column, Mask int }
