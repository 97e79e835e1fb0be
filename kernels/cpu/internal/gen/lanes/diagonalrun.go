package lanes

// The offsets of the fields of DiagonalRun in package diagonals, and its size in bytes.
const (
	RunSlices  = 0
	RunPattern = 8
	RunWidth   = 16
	RunMasked  = 24
	RunEnds    = 25
	RunBytes   = 32
)
