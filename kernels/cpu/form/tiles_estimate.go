package form

import (
	"github.com/klauspost/cpuid/v2"

	"github.com/msrep-go/msrep/kernels/cpu/simd"
	"github.com/msrep-go/msrep/sparse"
)

const (
	sampleWindows = 8
	// The entries of a window: an eighth of all in all windows, but no more than
	// needed, and not so few that the first ones decide.
	leastEntries = 1 << 10
	mostEntries  = 1 << 15
	// sampleLines is the lines of x that the first cache keeps beside the matrix:
	// half of 32 KiB. The first entries of a window, twice as many, only fill it.
	sampleLines = 256
	fillEntries = 2 * sampleLines
)

// FirstCacheMisses is the share of entries for which a first cache that keeps 256
// lines of x would have to load one: near 0 for bands, near 1 for rows that jump
// about. Tiles pay where it is high. It looks at 8 windows of 1 Ki to 32 Ki entries.
func FirstCacheMisses[V sparse.Value](r Rows[V]) float64 {
	shift, nnz := lineShift[V](), int64(len(r.Idx))
	if r.Cols <= sampleLines<<shift {
		return 0
	}
	n := min(max(nnz/(8*sampleWindows), leastEntries), mostEntries)
	var lines lineCache
	var missed, seen int64
	for w := range int64(sampleWindows) {
		lo := max(0, nnz-n) * w / (sampleWindows - 1)
		window := r.Idx[lo:min(lo+n, nnz)]
		first := min(fillEntries, len(window))
		lines.read(window[:first], shift)
		missed += lines.read(window[first:], shift)
		seen += int64(len(window) - first)
	}
	if seen == 0 {
		return 0
	}
	return float64(missed) / float64(seen)
}

// lineCache is the line of x that is in each place of a cache, plus 1.
type lineCache [sampleLines]int32

// read brings in the lines of some columns, and gives the number of those that were missing.
func (c *lineCache) read(idx []int32, shift int) (missed int64) {
	for _, column := range idx {
		line, one := column>>shift, int64(0)
		if c[uint32(line)%sampleLines] != line+1 { // it can't be foreseen: adding is faster than a branch
			one = 1
		}
		c[uint32(line)%sampleLines] = line + 1
		missed += one
	}
	return missed
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
