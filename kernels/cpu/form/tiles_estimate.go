package form

import (
	"github.com/klauspost/cpuid/v2"

	"github.com/msrep-go/msrep/kernels/cpu/simd"
	"github.com/msrep-go/msrep/sparse"
)

const (
	sampleWindows = 8
	// The number of entries of a window is an eighth of all entries divided by the number of
	// windows, within these limits.
	leastEntries = 1 << 10
	mostEntries  = 1 << 15
	// sampleLines is the number of cache lines of x that the first-level cache keeps beside the
	// matrix: half of 32 KiB. The first fillEntries entries of a window only fill the cache.
	sampleLines = 256
	fillEntries = 2 * sampleLines
)

// FirstCacheMisses returns the fraction of entries that miss a first-level cache of 256 lines of x.
// It is near 0 for bands and near 1 for rows that access x at random. Tiles pay if it is high. It
// is measured on 8 windows of 1 Ki to 32 Ki entries.
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

// lineCache is a direct-mapped cache: the line of x in each place, plus 1.
type lineCache [sampleLines]int32

// read loads the lines of some columns and returns the number of misses.
func (c *lineCache) read(idx []int32, shift int) (missed int64) {
	for _, column := range idx {
		line, one := column>>shift, int64(0)
		if c[uint32(line)%sampleLines] != line+1 { // unpredictable: adding is faster than a branch
			one = 1
		}
		c[uint32(line)%sampleLines] = line + 1
		missed += one
	}
	return missed
}

// nearSecond is the largest ratio of the size of x to the second-level cache for which x counts as
// near; see XIsNear.
const nearSecond = 4

// TileRereadRatio returns the bytes of x that tiles read (x once per block of rows), divided by the
// bytes that bins move in addition (one write and one read per entry). It returns 0 if x is near
// enough to the second-level cache to be read fast.
func TileRereadRatio[V sparse.Value](r Rows[V]) float64 {
	second := 2 * halfCache[V](cpuid.CPU.Cache.L2, secondCache) // elements that fill the second-level cache
	if r.Cols <= nearSecond*second || len(r.Idx) == 0 {
		return 0
	}
	blocks := float64(len(r.Ptr)-1) / float64(min(second/2, simd.TileRows))
	return blocks * float64(r.Cols) / (2 * float64(len(r.Idx)))
}
