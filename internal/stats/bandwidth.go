package stats

import (
	"sort"
	"sync"

	"github.com/msrep-go/msrep/internal/par"
)

// bandwidths returns the largest i-j and the largest j-i over all entries (i, j), each at
// least 0. It divides the entries, not the rows, among goroutines, so a long row is
// shared by all of them.
func bandwidths(rowPtr []int64, colIdx []int32) (lower, upper int64) {
	var mu sync.Mutex
	rows := len(rowPtr) - 1
	par.Range(int64(len(colIdx)), 1<<16, func(lo, hi int64) {
		if lo == hi {
			return
		}
		var below, above int64
		i := sort.Search(rows, func(i int) bool { return rowPtr[i+1] > lo }) // the row of entry lo
		for k := lo; k < hi; i++ {
			end := min(rowPtr[i+1], hi)
			if k == end {
				continue // empty row
			}
			first, last := colIdx[k], colIdx[k]
			for _, j := range colIdx[k:end] {
				first, last = min(first, j), max(last, j)
			}
			below = max(below, int64(i)-int64(first))
			above = max(above, int64(last)-int64(i))
			k = end
		}
		mu.Lock()
		defer mu.Unlock()
		lower, upper = max(lower, below), max(upper, above)
	})
	return lower, upper
}
