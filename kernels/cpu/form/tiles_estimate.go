package form

import (
	"github.com/klauspost/cpuid/v2"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels/cpu/simd"
	"github.com/msrep-go/msrep/sparse"
)

const (
	sampleWindows = 8
	// The entries of a window: an eighth of all in all windows, but no more than
	// needed, and not so few that the first ones decide.
	leastEntries = 1 << 11
	mostEntries  = 1 << 15
	// sampleLines is the lines of x that the first cache keeps beside the matrix:
	// half of 32 KiB.
	sampleLines = 256
)

// FirstCacheMisses is the share of entries for which a first cache that keeps 256
// lines of x would have to load one: near 0 for bands, near 1 for rows that jump
// about. Tiles pay where it is high. It looks at 8 windows of 2 Ki to 32 Ki entries.
func FirstCacheMisses[V sparse.Value](r Rows[V]) float64 {
	perLine := int32(cacheLine / mem.Size[V]())
	nnz := int64(len(r.Idx))
	n := min(max(nnz/(8*sampleWindows), leastEntries), mostEntries)
	var lines [sampleLines]int32 // the line that is in each place, plus 1
	var missed, seen int64
	for w := range int64(sampleWindows) {
		lo := max(0, nnz-n) * w / (sampleWindows - 1)
		for _, c := range r.Idx[lo:min(lo+n, nnz)] {
			line := c / perLine
			if at := &lines[uint32(line)%sampleLines]; *at != line+1 {
				*at = line + 1
				missed++
			}
			seen++
		}
	}
	if seen == 0 {
		return 0
	}
	return float64(missed) / float64(seen)
}

// nearSecond is how many times the second cache x may be and count as near.
const nearSecond = 4

// TilesReadAgain is the bytes of x that tiles read, once for each block of rows, over those
// that bins write and read more, which is each product once. It is 0 where x is near enough
// to the second cache to be read fast.
func TilesReadAgain[V sparse.Value](r Rows[V]) float64 {
	second := 2 * fit[V](cpuid.CPU.Cache.L2, secondCache) // elements that fill it
	if r.Cols <= nearSecond*second || len(r.Idx) == 0 {
		return 0
	}
	blocks := float64(len(r.Ptr)-1) / float64(min(second/2, simd.TileRows))
	return blocks * float64(r.Cols) / (2 * float64(len(r.Idx)))
}
