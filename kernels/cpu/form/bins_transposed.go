package form

import (
	"github.com/msrep-go/msrep/kernels/cpu/simd"
)

// MultiplyTransposed changes the places of both passes: the first one writes the products of the
// entries block of rows by block of rows, and the second one adds them to y block of columns by
// block of columns.
func (f *binsForm[V]) MultiplyTransposed(alpha V, x []V, to func(lo, hi int) []V) {
	for g := range len(f.groups) - 1 {
		after := f.spread(f.groups[g], f.groups[g+1], alpha, x)
		f.collect(g, after, to)
	}
}

// spread writes the products of the entries of some blocks of rows, and gives what is left of
// alpha to multiply by: see simd.Factors. A place that holds no entry gets 0 where its value is
// finite.
func (f *binsForm[V]) spread(first, end int, alpha V, x []V) (after V) {
	x = x[first*f.height : min(end*f.height, f.rows)]
	before, after := simd.Factors(f.level, alpha, x)
	from := f.blocks[first]
	for b := first; b < end; b++ {
		part := x[:min(f.height, len(x))]
		x = x[len(part):]
		for i, v := range part {
			f.sums[i] = before * v
		}
		f.sums[f.height] = 0
		lo, hi := f.blocks[b], f.blocks[b+1]
		f.entries.Spread(f.level, int(lo), int(hi-lo), f.sums, f.between[lo-from:])
	}
	simd.Fence(f.level)
	return after
}
