package tiles

import (
	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
)

// MultiplyTransposed visits the tiles in groups of adjacent blocks of columns, and those of a group
// in the order of Multiply. The part of y of a group then stays in the last-level cache, that of a
// tile in the first-level cache, and its part of x in the second-level cache.
func (f *tilesForm[V]) MultiplyTransposed(alpha V, x []V, to func(lo, hi int) []V) {
	block, after := -1, V(1) // f.sums has alpha*x of this block
	add := func(t int, y, ahead []V) {
		if t < 0 {
			return
		}
		if b := t / f.across; b != block {
			block = b
			after = form.ScaleTo(f.level, f.sums, alpha, x[b*f.height:min((b+1)*f.height, f.rows)]) // in a nearer cache than x
		}
		AddTileTransposed(f.level, &f.entries, int(f.first[t]), int(f.first[t+1]), after, f.sums, y, ahead)
	}
	last, y := -1, []V(nil) // the previous non-empty tile: it is added once the next one is known
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
				if !f.worthPrefetching(t, len(next)) {
					ahead = nil
				}
				add(last, y, ahead)
				last, y = t, next
			}
		}
	}
	add(last, y, nil)
}

// GroupCache is the bytes of y of a group, in a cache that other workers use too. Tests replace it.
var GroupCache = form.LastCache() / 8

// group returns the number of adjacent tiles of a group. Each group computes the factors of a block
// again, so there are at most as many groups as a row has entries.
func (f *tilesForm[V]) group() int {
	cached := GroupCache >> f.shift / mem.Size[V]()
	worth := int64(f.across) * int64(f.rows) / max(int64(len(f.entries.Entries)), 1)
	return int(max(cached, worth, 1))
}
