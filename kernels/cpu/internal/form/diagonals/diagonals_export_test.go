package diagonals

// FindStencil returns the number of planes of offsets, their distance, and the largest number of
// rows of a plane that a row reads.
func FindStencil(offsets []int64) (planes, apart, reach int) {
	s := findStencil(offsets)
	return s.planes, s.distance, s.reach
}
