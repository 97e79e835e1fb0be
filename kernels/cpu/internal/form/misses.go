package form

import (
	"github.com/msrep-go/msrep/sparse"
)

const (
	SampleWindows = 8
	// The number of entries of a window is an eighth of all entries divided by the number of
	// windows, within these limits.
	leastEntries = 1 << 10
	mostEntries  = 1 << 15
	// SampleLines is the number of cache lines of x that the first-level cache keeps beside the
	// matrix: half of 32 KiB. The first fillEntries entries of a window only fill the cache.
	SampleLines = 256
	fillEntries = 2 * SampleLines
)

// FirstCacheMisses returns the fraction of entries that miss a first-level cache of 256 lines of x.
// It is near 0 for bands and near 1 for rows that access x at random. Tiles pay if it is high. It
// is measured on 8 windows of 1 Ki to 32 Ki entries.
func FirstCacheMisses[V sparse.Value](r Rows[V]) float64 {
	shift, nnz := LineShift[V](), int64(len(r.Idx))
	if r.Cols <= SampleLines<<shift {
		return 0
	}
	n := min(max(nnz/(8*SampleWindows), leastEntries), mostEntries)
	var lines LineCache
	var missed, seen int64
	for w := range int64(SampleWindows) {
		lo := max(0, nnz-n) * w / (SampleWindows - 1)
		window := r.Idx[lo:min(lo+n, nnz)]
		first := min(fillEntries, len(window))
		lines.Read(window[:first], shift)
		missed += lines.Read(window[first:], shift)
		seen += int64(len(window) - first)
	}
	if seen == 0 {
		return 0
	}
	return float64(missed) / float64(seen)
}

// LineCache is a direct-mapped cache: the line of x in each place, plus 1.
type LineCache [SampleLines]int32

// Read loads the lines of some columns and returns the number of misses.
func (c *LineCache) Read(idx []int32, shift int) (missed int64) {
	for _, column := range idx {
		line, one := column>>shift, int64(0)
		if c[uint32(line)%SampleLines] != line+1 { // unpredictable: adding is faster than a branch
			one = 1
		}
		c[uint32(line)%SampleLines] = line + 1
		missed += one
	}
	return missed
}
