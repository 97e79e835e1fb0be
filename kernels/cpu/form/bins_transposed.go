package form

import (
	"github.com/msrep-go/msrep/kernels/cpu/simd"
)

// MultiplyTransposed exchanges the two passes: the first pass writes the products of the entries to
// the buffer, block of rows by block of rows; the second adds them to y, block of columns by block
// of columns.
func (f *binsForm[V]) MultiplyTransposed(alpha V, x []V, to func(lo, hi int) []V) {
	for g := range len(f.groups) - 1 {
		after := f.writeProducts(f.groups[g], f.groups[g+1], alpha, x)
		f.addBuffer(g, after, to)
	}
}

// writeProducts writes the products of the entries of the blocks of rows first <= b < end to the
// buffer. It returns the factor by which they must still be multiplied (see simd.Factors). A slot
// without an entry gets 0 if its value is finite.
func (f *binsForm[V]) writeProducts(first, end int, alpha V, x []V) (after V) {
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
		f.entries.Spread(f.level, int(lo), int(hi-lo), f.sums, f.buffer[lo-from:])
	}
	simd.Fence(f.level)
	return after
}
