package inspect

import (
	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels/cpu/form"
	"github.com/msrep-go/msrep/sparse"
)

// Windows of entries that Locality looks at.
const (
	windows    = 8
	windowSize = 1 << 15
	lineBytes  = 64
)

// Locality is how many cache lines of x the entries need for each entry, where
// only what the same window of 32 Ki consecutive entries has touched is still in
// the cache: near 0 for a band, near 1 for random columns. It looks at 8 windows,
// evenly spread over the pieces.
func Locality[V sparse.Value](pieces []form.Rows[V]) float64 {
	var lines, entries int64
	for w := range windows {
		r := pieces[w*len(pieces)/windows]
		n := int64(len(r.Idx))
		of := int64(max(windows/len(pieces), 1))
		lo := n * (int64(w) % of) / of
		window := r.Idx[lo:min(lo+windowSize, n)]
		lines += distinctLines(window, int64(r.Cols), lineBytes/mem.Size[V]())
		entries += int64(len(window))
	}
	if entries == 0 {
		return 0
	}
	return float64(lines) / float64(entries)
}

// distinctLines counts the lines of x, with so many elements each, that idx
// points into.
func distinctLines(idx []int32, cols, perLine int64) (n int64) {
	seen := make([]uint64, cols/perLine/64+1)
	for _, c := range idx {
		line := int64(c) / perLine
		if bit := uint64(1) << (line % 64); seen[line/64]&bit == 0 {
			seen[line/64] |= bit
			n++
		}
	}
	return n
}
