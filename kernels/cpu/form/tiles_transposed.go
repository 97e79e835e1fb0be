package form

import "github.com/msrep-go/msrep/kernels/cpu/simd"

// MultiplyTransposed reads the tiles in the order of Multiply: the sums of a tile are then
// in the first cache, and its part of x in the second.
func (f *tilesForm[V]) MultiplyTransposed(alpha V, x []V, to func(lo, hi int) []V) {
	block, after := -1, V(1) // the block whose factors are in f.sums
	add := func(t int, y, ahead []V) {
		if t < 0 {
			return
		}
		if b := t / f.across; b != block {
			block = b
			factors := f.sums[:min(f.height, f.rows-b*f.height)]
			part := x[b*f.height:][:len(factors)]
			var before V
			before, after = simd.Factors(alpha, part)
			for i, v := range part {
				factors[i] = before * v
			}
		}
		simd.AddTileTransposed(f.level, &f.entries, int(f.first[t]), int(f.first[t+1]), after, f.sums, y, ahead)
	}
	last, y := -1, []V(nil) // the tile whose turn it is, when the next one is known
	for t := range len(f.first) - 1 {
		if f.first[t] == f.first[t+1] {
			continue
		}
		lo := t % f.across << f.shift
		next := to(lo, min(lo+1<<f.shift, f.cols))
		ahead := next
		if !f.worthAhead(t, len(next)) {
			ahead = nil
		}
		add(last, y, ahead)
		last, y = t, next
	}
	add(last, y, nil)
}
