package form

import (
	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/sparse"
)

// Many is a Form that multiplies several vectors at once. It reads its entries once for all
// vectors, or once for several at a time.
type Many[V sparse.Value] interface {
	Form[V]
	// MultiplyMany computes Multiply for the columns of x and y; both have the same number of
	// columns. x has Cols rows; y has at least one row per row of the form. At most one goroutine
	// calls it at a time.
	MultiplyMany(alpha, beta V, x, y MultiVector[V])
	// RowsFrom returns the number of vectors from which rows in CSR are faster, or 0 if they never
	// are.
	RowsFrom() int
}

// Suited is a Many that for some blocks is faster than rows in CSR even from RowsFrom vectors on.
type Suited[V sparse.Value] interface {
	Many[V]
	// Suits reports whether x and y are such blocks.
	Suits(x, y MultiVector[V]) bool
}

// ScaleTo computes to = before*x and returns after; see simd.Factors for both factors.
func ScaleTo[V sparse.Value](l simd.Level, to []V, alpha V, x []V) (after V) {
	before, after := Factors(l, alpha, x)
	to = to[:len(x)]
	for i, v := range x {
		to[i] = before * v
	}
	return after
}

// ScaleRows computes y = beta*y for the first n rows.
func ScaleRows[V sparse.Value](beta V, y MultiVector[V], n int) {
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
