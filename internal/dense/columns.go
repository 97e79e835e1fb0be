package dense

import "github.com/msrep-go/msrep/sparse"

// LUColumns is LUPanel for only the first n columns of a front, whose pivots may come from the rows 0 to candidates-1, n <=
// candidates. It changes these rows of these columns and nothing else: it computes the unit lower trapezoid L and the upper
// triangle U with P A = L U, and returns the number of pivots that it replaced. perm has at least n elements.
func LUColumns[V sparse.Value](candidates, n int, a []V, lda int, perm []int32, tol, tiny V) (replaced int) {
	e := elimination[V]{candidates, a, lda, perm, tol, tiny}
	return e.columns(0, n)
}
