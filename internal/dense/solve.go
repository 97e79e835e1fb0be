package dense

import (
	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/sparse"
)

// LowerUnitSolve computes B = L^-1 B. L is n x n, lower triangular with ones on its diagonal, which it does not use. B is
// n x m.
func LowerUnitSolve[V sparse.Value](n, m int, l []V, ldl int, b []V, ldb int) {
	if n <= 1 || m == 0 {
		return
	}
	if n <= triangleSide {
		if level < simd.AVX2 {
			lowerUnitLoop(n, m, l, ldl, b, ldb)
		} else {
			leftAssembly(n, m, l, ldl, b, ldb)
		}
		return
	}
	n1 := half(n)
	if m <= fewColumns {
		n1 = triangleSide // reads L once, one column after the other
	}
	LowerUnitSolve(n1, m, l, ldl, b, ldb)
	Gemm(n-n1, m, n1, l[n1:], ldl, b, ldb, b[n1:], ldb)
	LowerUnitSolve(n-n1, m, l[n1+n1*ldl:], ldl, b[n1:], ldb)
}

// fewColumns is the greatest number of right-hand sides for which solves read a triangle once, column by column.
const fewColumns = 4

// LowerSolve computes B = L^-1 B. L is n x n and lower triangular. B is n x m.
func LowerSolve[V sparse.Value](n, m int, l []V, ldl int, b []V, ldb int) {
	for i := 0; i < n && m > 0; i += triangleSide {
		side := min(triangleSide, n-i)
		lowerLoop(side, m, l[i+i*ldl:], ldl, b[i:], ldb)
		if next := i + side; next < n {
			Gemm(n-next, m, side, l[next+i*ldl:], ldl, b[i:], ldb, b[next:], ldb)
		}
	}
}

// UpperSolve computes B = U^-1 B. U is n x n and upper triangular. B is n x m.
func UpperSolve[V sparse.Value](n, m int, u []V, ldu int, b []V, ldb int) {
	for end := n; end > 0 && m > 0; {
		i := (end - 1) / triangleSide * triangleSide
		upperLoop(end-i, m, u[i+i*ldu:], ldu, b[i:], ldb)
		Gemm(i, m, end-i, u[i*ldu:], ldu, b[i:], ldb, b, ldb)
		end = i
	}
}

// LowerTransSolve computes B = L'^-1 B. L is n x n and lower triangular. B is n x m.
func LowerTransSolve[V sparse.Value](n, m int, l []V, ldl int, b []V, ldb int) {
	lowerTransSolve(n, m, l, ldl, b, ldb, false)
}

// LowerUnitTransSolve computes B = L'^-1 B. L is n x n, lower triangular with ones on its diagonal, which it does not
// use. B is n x m.
func LowerUnitTransSolve[V sparse.Value](n, m int, l []V, ldl int, b []V, ldb int) {
	lowerTransSolve(n, m, l, ldl, b, ldb, true)
}

func lowerTransSolve[V sparse.Value](n, m int, l []V, ldl int, b []V, ldb int, unit bool) {
	for end := n; end > 0 && m > 0; {
		i := (end - 1) / triangleSide * triangleSide
		side := end - i
		if end < n {
			GemmTN(side, m, n-end, l[end+i*ldl:], ldl, b[end:], ldb, b[i:], ldb)
		}
		lowerTransLoop(side, m, l[i+i*ldl:], ldl, b[i:], ldb, unit)
		end = i
	}
}

// UpperTransSolve computes B = U'^-1 B. U is n x n and upper triangular. B is n x m.
func UpperTransSolve[V sparse.Value](n, m int, u []V, ldu int, b []V, ldb int) {
	for i := 0; i < n && m > 0; i += triangleSide {
		side := min(triangleSide, n-i)
		GemmTN(side, m, i, u[i*ldu:], ldu, b, ldb, b[i:], ldb)
		upperTransLoop(side, m, u[i+i*ldu:], ldu, b[i:], ldb)
	}
}

// UpperRightSolve computes B = B U^-1. U is n x n and upper triangular. B is m x n.
func UpperRightSolve[V sparse.Value](m, n int, u []V, ldu int, b []V, ldb int) {
	rightSolve(m, n, u, 1, ldu, b, ldb)
}

// LowerRightTransSolve computes B = B L'^-1. L is n x n and lower triangular. B is m x n.
func LowerRightTransSolve[V sparse.Value](m, n int, l []V, ldl int, b []V, ldb int) {
	rightSolve(m, n, l, ldl, 1, b, ldb)
}

// rightSolve computes B = B U^-1 where element (p, j) of U is u[p*uk+j*uj]. It multiplies by the reciprocals of the
// diagonal, or divides where they overflow.
func rightSolve[V sparse.Value](m, n int, u []V, uk, uj int, b []V, ldb int) {
	if m == 0 || n == 0 {
		return
	}
	if n <= triangleSide {
		if level < simd.AVX2 {
			rightLoop(m, n, u, uk, uj, b, ldb)
		} else {
			rightAssembly(m, n, u, uk, uj, b, ldb)
		}
		return
	}
	n1 := half(n)
	rightSolve(m, n1, u, uk, uj, b, ldb)
	gemm(m, n-n1, n1, b, ldb, u[n1*uj:], uk, uj, b[n1*ldb:], ldb)
	rightSolve(m, n-n1, u[n1*(uk+uj):], uk, uj, b[n1*ldb:], ldb)
}
