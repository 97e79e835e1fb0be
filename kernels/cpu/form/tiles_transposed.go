package form

import (
	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels/cpu/simd"
)

// MultiplyTransposed takes the tiles side by side in groups, and those of a group in the
// order of Multiply: y of a group is then in the last cache, that of a tile in the first, and
// its part of x in the second.
func (f *tilesForm[V]) MultiplyTransposed(alpha V, x []V, to func(lo, hi int) []V) {
	block, after := -1, V(1) // the block whose factors are in f.sums
	add := func(t int, y, ahead []V) {
		if t < 0 {
			return
		}
		if b := t / f.across; b != block {
			block = b
			after = scaleTo(f.level, f.sums, alpha, x[b*f.height:min((b+1)*f.height, f.rows)]) // nearer than x
		}
		simd.AddTileTransposed(f.level, &f.entries, int(f.first[t]), int(f.first[t+1]), after, f.sums, y, ahead)
	}
	last, y := -1, []V(nil) // the tile whose turn it is, when the next one is known
	group := f.group()
	for first := 0; first < f.across; first += group {
		for row := 0; row+1 < len(f.first); row += f.across {
			for c := first; c < min(first+group, f.across); c++ {
				t := row + c
				if f.first[t] == f.first[t+1] {
					continue
				}
				lo := c << f.shift
				next := to(lo, min(lo+1<<f.shift, f.cols))
				ahead := next
				if !f.worthAhead(t, len(next)) {
					ahead = nil
				}
				add(last, y, ahead)
				last, y = t, next
			}
		}
	}
	add(last, y, nil)
}

// groupCache is the bytes that y of a group takes, of a cache that other workers use too.
var groupCache = simd.LastCache() / 8

// group is how many tiles side by side are in a group. The factors of a block are made anew
// for each of them: there are no more groups than entries in a row.
func (f *tilesForm[V]) group() int {
	cached := groupCache >> f.shift / mem.Size[V]()
	worth := int64(f.across) * int64(f.rows) / max(int64(len(f.entries.Entries)), 1)
	return int(max(cached, worth, 1))
}
