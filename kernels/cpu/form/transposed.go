package form

import (
	"github.com/msrep-go/msrep/kernels/cpu/simd"
	"github.com/msrep-go/msrep/sparse"
)

// Transposed is a Form that multiplies its transpose too.
type Transposed[V sparse.Value] interface {
	Form[V]
	// MultiplyTransposed adds the products of all entries to elements of a vector y:
	//
	//	y[idx[k]] += alpha * val[k]*x[r] for every entry k of each row r
	//
	// x has one element per row. to gives a place to add to for the elements lo <= i < hi
	// of y, 0 <= lo < hi <= Cols: its first one is that for lo. The place holds until the
	// call after the next. It is called by one goroutine at a time.
	MultiplyTransposed(alpha V, x []V, to func(lo, hi int) []V)
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
