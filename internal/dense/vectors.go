package dense

import (
	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/sparse"
)

// GemmTN computes C -= A'*B. A is k x m, B is k x n, C is m x n. An element of C is reduced by one sum over a column of
// A, whose order of additions depends only on k: the split by rows or columns of C does not change bits.
func GemmTN[V sparse.Value](m, n, k int, a []V, lda int, b []V, ldb int, c []V, ldc int) {
	if m == 0 || n == 0 || k == 0 {
		return
	}
	if level < simd.AVX2 {
		gemmTNLoop(m, n, k, a, lda, b, ldb, c, ldc)
		return
	}
	gemmTNAssembly(m, n, k, a, lda, b, ldb, c, ldc)
}

// GemvSub computes y -= A*x. A is m x n.
func GemvSub[V sparse.Value](m, n int, a []V, lda int, x, y []V) { Gemm(m, 1, n, a, lda, x, n, y, m) }

// GemvTransSub computes y -= A'*x. A is m x n.
func GemvTransSub[V sparse.Value](m, n int, a []V, lda int, x, y []V) {
	GemmTN(n, 1, m, a, lda, x, m, y, n)
}

// LowerUnitSolveVec is LowerUnitSolve of one vector x.
func LowerUnitSolveVec[V sparse.Value](n int, l []V, ldl int, x []V) {
	LowerUnitSolve(n, 1, l, ldl, x, n)
}

// LowerSolveVec is LowerSolve of one vector x.
func LowerSolveVec[V sparse.Value](n int, l []V, ldl int, x []V) { LowerSolve(n, 1, l, ldl, x, n) }

// UpperSolveVec is UpperSolve of one vector x.
func UpperSolveVec[V sparse.Value](n int, u []V, ldu int, x []V) { UpperSolve(n, 1, u, ldu, x, n) }

// LowerUnitTransSolveVec is LowerUnitTransSolve of one vector x.
func LowerUnitTransSolveVec[V sparse.Value](n int, l []V, ldl int, x []V) {
	LowerUnitTransSolve(n, 1, l, ldl, x, n)
}

// LowerTransSolveVec is LowerTransSolve of one vector x.
func LowerTransSolveVec[V sparse.Value](n int, l []V, ldl int, x []V) {
	LowerTransSolve(n, 1, l, ldl, x, n)
}

// UpperTransSolveVec is UpperTransSolve of one vector x.
func UpperTransSolveVec[V sparse.Value](n int, u []V, ldu int, x []V) {
	UpperTransSolve(n, 1, u, ldu, x, n)
}
