package form

import (
	"github.com/msrep-go/msrep/kernels/cpu/simd"
	"github.com/msrep-go/msrep/sparse"
)

// Many is a Form that multiplies several vectors at once. Its entries are read once
// for all of them, or once for some at a time.
type Many[V sparse.Value] interface {
	Form[V]
	// MultiplyMany computes Multiply for the columns of x and y, whose numbers are
	// equal. x has Cols rows and y one per row of the form, or more. It is called by
	// one goroutine at a time.
	MultiplyMany(alpha, beta V, x, y simd.Block[V])
	// RowsFrom is from how many vectors on the rows in CSR, where they stay in place,
	// multiply them faster; 0 where they never do.
	RowsFrom() int
}

func (c *csr[V]) MultiplyMany(alpha, beta V, x, y simd.Block[V]) {
	simd.RowsMany(c.level, alpha, beta, c.rows.Ptr, c.rows.Idx, c.rows.Val, x.First(c.rows.Cols), y)
}

// RowsFrom is 1: it multiplies by them as they are.
func (c *csr[V]) RowsFrom() int { return 1 }

// scaleRow is y = beta*y for one row.
func scaleRow[V sparse.Value](beta V, y simd.Block[V], i int) {
	row := y.Val[i*y.Stride:][:y.Cols]
	if beta == 0 {
		clear(row)
		return
	}
	for j := range row {
		row[j] *= beta
	}
}
