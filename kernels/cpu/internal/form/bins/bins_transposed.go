package bins

import (
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
)

// MultiplyTransposed exchanges the two passes: the first pass writes the products of the entries to
// the buffer, block of rows by block of rows; the second adds them to y, block of columns by block
// of columns.
func (f *binsForm[V]) MultiplyTransposed(alpha V, x []V, to func(lo, hi int) []V) {
	for g := range len(f.Groups) - 1 {
		after := f.writeProducts(f.Groups[g], f.Groups[g+1], alpha, x)
		f.AddBuffer(g, after, to)
	}
}

// writeProducts writes the products of the entries of the blocks of rows first <= b < end to the
// buffer. It returns the factor by which they must still be multiplied (see simd.Factors). A slot
// without an entry gets 0 if its value is finite.
func (f *binsForm[V]) writeProducts(first, end int, alpha V, x []V) (after V) {
	x = x[first*f.height : min(end*f.height, f.rows)]
	before, after := form.Factors(f.Level, alpha, x)
	from := f.Blocks[first]
	for b := first; b < end; b++ {
		part := x[:min(f.height, len(x))]
		x = x[len(part):]
		for i, v := range part {
			f.sums[i] = before * v
		}
		f.sums[f.height] = 0
		lo, hi := f.Blocks[b], f.Blocks[b+1]
		f.Entries.Spread(f.Level, int(lo), int(hi-lo), f.sums, f.buffer[lo-from:])
	}
	form.Fence(f.Level)
	return after
}
