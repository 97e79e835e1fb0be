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
	MultiplyMany(alpha, beta V, x, y simd.MultiVector[V])
	// RowsFrom is from how many vectors on the rows in CSR, where they stay in place,
	// multiply them faster; 0 where they never do.
	RowsFrom() int
}

// Suited is a Many that is faster than the rows in CSR for some blocks, also from RowsFrom vectors on.
type Suited[V sparse.Value] interface {
	Many[V]
	// Suits reports whether x and y are such blocks.
	Suits(x, y simd.MultiVector[V]) bool
}

// Lined is Suited for blocks x whose rows lie in cache lines.
type Lined[V sparse.Value] interface {
	Suited[V]
	// GainsByLines reports whether x is not such a block, but a copy of it would be, which is worth its time.
	GainsByLines(x simd.MultiVector[V]) bool
}

// scaleTo sets to to the elements of x, multiplied by what goes before products of alpha, and gives
// what comes after them: see simd.Factors.
func scaleTo[V sparse.Value](l simd.Level, to []V, alpha V, x []V) (after V) {
	before, after := simd.Factors(l, alpha, x)
	to = to[:len(x)]
	for i, v := range x {
		to[i] = before * v
	}
	return after
}

// scaleRows is y = beta*y for the first n rows.
func scaleRows[V sparse.Value](beta V, y simd.MultiVector[V], n int) {
	if beta == 1 {
		return
	}
	for i := range n {
		row := y.Val[i*y.Stride:][:y.Cols]
		if beta == 0 {
			clear(row)
			continue
		}
		for j := range row {
			row[j] *= beta
		}
	}
}

// finishRows is y = alpha*sums + beta*y for so many rows of y, whose sums lie width elements apart.
// With stream, which needs what StreamsWhole says of y, they go past the caches.
func finishRows[V sparse.Value](l simd.Level, alpha, beta V, sums []V, width, rows int, y simd.MultiVector[V], stream bool) {
	n := y.Cols
	if y.Stride == n { // rows follow each other
		if n < width {
			for i := range rows {
				copy(sums[i*n:][:n], sums[i*width:])
			}
		}
		simd.StoreRows(l, alpha, beta, sums, y.Val[:rows*n], stream)
		return
	}
	for i := range rows {
		simd.StoreRows(l, alpha, beta, sums[i*width:], y.Val[i*y.Stride:][:n], false)
	}
}
