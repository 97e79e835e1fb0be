package dense

import (
	"math"

	"github.com/msrep-go/msrep/sparse"
)

// LU eliminates the first pivots columns of the front A, m x n with pivots <= min(m, n), in place:
//
//	P A = [L11   ] [U11 U12]
//	      [L21  I] [    S  ]
//
// L11 has ones on its diagonal, which are not stored. S, at a[pivots+pivots*lda:], is the Schur complement.
//
// The rows 0 to pivots-1 are fully summed: a pivot comes from one of them. The pivot of column c is the entry on the
// diagonal if its absolute value is at least tol times the largest of the rows c to pivots-1 (0 <= tol <= 1; 1 is partial
// pivoting); otherwise it is that largest entry. LU exchanges whole rows of the front. perm[c] is the row, c or a later
// one, with which row c changed places in step c (see [Exchange]); perm has at least pivots elements.
//
// A pivot smaller than tiny > 0 is replaced by tiny with its sign. replaced counts these pivots. growth is the largest
// absolute value in L11 and L21, at least 0, or NaN if one of these is NaN. It is large if a pivot is small against an
// entry of its column in the rows from pivots on, from which no pivot may come.
//
// LU is LUPanel, UpperPart of the other columns, and Gemm. A caller may run the last two for several ranges of columns on
// several goroutines, and gets the same bits.
func LU[V sparse.Value](m, n, pivots int, a []V, lda int, perm []int32, tol, tiny V) (replaced int, growth V) {
	replaced, growth = LUPanel(m, pivots, a, lda, perm, tol, tiny)
	if pivots == 0 || n == pivots {
		return replaced, growth
	}
	right := a[pivots*lda:]
	UpperPart(pivots, n-pivots, a, lda, perm, right, lda)
	if m > pivots {
		Gemm(m-pivots, n-pivots, pivots, a[pivots:], lda, right, lda, right[pivots:], lda)
	}
	return replaced, growth
}

// LUPanel is LU of the first pivots columns of a front of m rows: it computes L11, U11 and L21. A caller that splits the
// rows from pivots on calls it with m = pivots and then UpperRightSolve for ranges of the rows of L21.
func LUPanel[V sparse.Value](m, pivots int, a []V, lda int, perm []int32, tol, tiny V) (replaced int, growth V) {
	if pivots == 0 {
		return 0, 0
	}
	e := elimination[V]{pivots, a, lda, perm, tol, tiny}
	replaced = e.columns(0, pivots)
	if m > pivots {
		UpperRightSolve(m-pivots, pivots, a, lda, a[pivots:], lda)
	}
	for c := range pivots {
		growth = Largest(growth, a[c*lda:][c+1:m])
	}
	return replaced, growth
}

// UpperPart computes U12 of LU for n columns of a front: it exchanges the first pivots rows of B as perm says and
// computes B = L11^-1 B. L11 is at l, as LUPanel leaves it. B has at least pivots rows, of which only these change.
func UpperPart[V sparse.Value](pivots, n int, l []V, ldl int, perm []int32, b []V, ldb int) {
	exchangeRows(perm[:pivots], 0, n, b, ldb)
	LowerUnitSolve(pivots, n, l, ldl, b, ldb)
}

// Exchange applies the row exchanges of LU to a list with one element for each row: the element of row r after them is
// that of the row that they moved to r.
func Exchange[E any](perm []int32, list []E) {
	for c, r := range perm {
		list[c], list[r] = list[r], list[c]
	}
}

// Largest returns the largest absolute value in x and of most >= 0, or NaN if one of these is NaN.
func Largest[V sparse.Value](most V, x []V) V {
	// The absolute values have the order of their bits, and NaN is after all others.
	bits := func(v V) uint64 { return math.Float64bits(float64(v)) &^ (1 << 63) }
	m0 := bits(most)
	m1, m2, m3 := m0, m0, m0
	for ; len(x) >= 4; x = x[4:] {
		m0, m1, m2, m3 = max(m0, bits(x[0])), max(m1, bits(x[1])), max(m2, bits(x[2])), max(m3, bits(x[3]))
	}
	for _, v := range x {
		m0 = max(m0, bits(v))
	}
	return V(math.Float64frombits(max(m0, m1, m2, m3)))
}

// exchangeRows exchanges row first+c with row perm[c], for each c in ascending order, in n columns.
func exchangeRows[V sparse.Value](perm []int32, first, n int, b []V, ldb int) {
	for len(perm) > 0 && int(perm[0]) == first {
		perm, first = perm[1:], first+1
	}
	if len(perm) == 0 {
		return
	}
	for j := range n {
		col := b[j*ldb:]
		for c, r := range perm {
			if int(r) != first+c {
				col[first+c], col[r] = col[r], col[first+c]
			}
		}
	}
}

// elimination is the LU factorisation of the square matrix of the fully summed rows and the columns of pivots.
type elimination[V sparse.Value] struct {
	pivots    int // rows and columns
	a         []V
	lda       int
	perm      []int32
	tol, tiny V
}

// columns eliminates the columns first to first+n-1, whose rows from first on have the updates of all columns before
// them, and returns the number of pivots that it replaced. It exchanges rows in these columns only: recursion as in
// Toledo, SIAM J. Matrix Anal. Appl. 18 (1997), 1065-1081.
func (e *elimination[V]) columns(first, n int) (replaced int) {
	if n <= triangleSide {
		return e.few(first, n)
	}
	lda, n1 := e.lda, half(n)
	mid, end := first+n1, first+n
	replaced = e.columns(first, n1)
	right := e.a[mid*lda:]
	exchangeRows(e.perm[first:mid], first, n-n1, right, lda)
	LowerUnitSolve(n1, n-n1, e.a[first+first*lda:], lda, right[first:], lda)
	Gemm(e.pivots-mid, n-n1, n1, e.a[mid+first*lda:], lda, right[first:], lda, right[mid:], lda)
	replaced += e.columns(mid, n-n1)
	exchangeRows(e.perm[mid:end], mid, n1, e.a[first*lda:], lda)
	return replaced
}

// few is columns for at most triangleSide columns.
func (e *elimination[V]) few(first, n int) (replaced int) {
	lda, end := e.lda, first+n
	for c := first; c < end; c++ {
		col := e.a[c*lda:][:e.pivots]
		r := e.pivotRow(c, col)
		e.perm[c] = int32(r)
		if r != c {
			for j := first; j < end; j++ {
				x := e.a[j*lda:]
				x[c], x[r] = x[r], x[c]
			}
		}
		if v := abs(col[c]); v < e.tiny {
			col[c] = V(math.Copysign(float64(e.tiny), float64(col[c])))
			replaced++
		}
		rows := e.pivots - c - 1
		if rows == 0 {
			break
		}
		divide(col[c+1:], col[c])
		if c+1 < end {
			next := e.a[(c+1)*lda:]
			Gemm(rows, end-c-1, 1, col[c+1:], lda, next[c:], lda, next[c+1:], lda)
		}
	}
	return replaced
}

// pivotRow returns the row of the pivot of column c.
func (e *elimination[V]) pivotRow(c int, col []V) int {
	best, r := abs(col[c]), c
	for i := c + 1; i < len(col); i++ {
		if v := abs(col[i]); v > best {
			best, r = v, i
		}
	}
	if abs(col[c]) >= e.tol*best {
		return c
	}
	return r
}

func abs[V sparse.Value](v V) V { return V(math.Abs(float64(v))) }
