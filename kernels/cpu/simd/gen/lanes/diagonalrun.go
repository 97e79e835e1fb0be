package lanes

// Where a DiagonalRun of package simd has what it says, in bytes, and its size.
const (
	RunSlices  = 0
	RunPattern = 8
	RunWidth   = 16
	RunMasked  = 24
	RunEnds    = 25
	RunBytes   = 32
)
