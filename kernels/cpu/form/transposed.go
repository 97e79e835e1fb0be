package form

import (
	"github.com/msrep-go/msrep/kernels/cpu/simd"
	"github.com/msrep-go/msrep/sparse"
)

// FasterAsRows reports whether the transposed product of a form takes longer than that of its
// rows in CSR, where these are at hand.
func FasterAsRows[V sparse.Value](f Form[V]) bool {
	switch f.(type) {
	case *csr[V], *ell[V], *ellr[V], *bisected[V], *jad[V], *hyb[V]:
		return true
	}
	return false
}

// runEntries is how many entries of rows in CSR go to one place.
const runEntries = 1 << 15

func (c *csr[V]) MultiplyTransposed(alpha V, x []V, to func(lo, hi int) []V) {
	ptr := c.rows.Ptr
	for r, rows := 0, len(ptr)-1; r < rows; {
		end := r + 1
		for end < rows && ptr[end+1]-ptr[r] <= runEntries {
			end++
		}
		if lo, hi := ptr[r]-ptr[0], ptr[end]-ptr[0]; lo < hi {
			idx := c.rows.Idx[lo:hi]
			first, last := simd.MinMax(c.level, idx)
			simd.Scatter(c.level, alpha, ptr[r:end+1], idx, c.rows.Val[lo:hi], x[r:end], to(int(first), int(last)+1), int(first), false)
		}
		r = end
	}
}
