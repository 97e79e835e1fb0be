package dense

import (
	"math"

	"github.com/msrep-go/msrep/sparse"
)

// Cholesky replaces the lower triangle of the symmetric n x n matrix A by L, A = L L'. It neither reads nor writes the
// upper triangle. It returns the column of the first pivot that is not positive (or is NaN), or -1. Then the columns
// before it are those of L, and the others are not defined.
//
// The first p columns of a front of m rows are Cholesky of the first p rows, LowerRightTransSolve of the others, and Syrk
// of these for the Schur complement.
func Cholesky[V sparse.Value](n int, a []V, lda int) (failed int) {
	if n <= triangleSide {
		return choleskyLoop(n, a, lda)
	}
	n1 := half(n)
	if failed := Cholesky(n1, a, lda); failed >= 0 {
		return failed
	}
	LowerRightTransSolve(n-n1, n1, a, lda, a[n1:], lda)
	rest := a[n1+n1*lda:]
	Syrk(n-n1, n1, a[n1:], lda, rest, lda)
	if failed := Cholesky(n-n1, rest, lda); failed >= 0 {
		return n1 + failed
	}
	return -1
}

// choleskyLoop is Cholesky for few columns.
func choleskyLoop[V sparse.Value](n int, a []V, lda int) (failed int) {
	for j := range n {
		col := a[j+j*lda:][:n-j]
		subtractColumn(n-j, j, a[j:], lda, a[j:], lda, col)
		if !(col[0] > 0) {
			return j
		}
		pivot := V(math.Sqrt(float64(col[0])))
		col[0] = pivot
		divide(col[1:], pivot)
	}
	return -1
}
