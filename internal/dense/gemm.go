package dense

import (
	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/sparse"
)

// Gemm computes C -= A*B. A is m x k, B is k x n, C is m x n.
func Gemm[V sparse.Value](m, n, k int, a []V, lda int, b []V, ldb int, c []V, ldc int) {
	gemm(m, n, k, a, lda, b, 1, ldb, c, ldc)
}

// GemmNT computes C -= A*B'. A is m x k, B is n x k, C is m x n.
func GemmNT[V sparse.Value](m, n, k int, a []V, lda int, b []V, ldb int, c []V, ldc int) {
	gemm(m, n, k, a, lda, b, ldb, 1, c, ldc)
}

// Syrk computes the lower triangle of C -= A*A'. A is n x k, C is n x n. It neither reads nor writes the rest of C. A
// caller may split it by columns: columns first to end-1 are a Syrk of the rows first to end-1 of A and a GemmNT of the
// rows from end on.
func Syrk[V sparse.Value](n, k int, a []V, lda int, c []V, ldc int) {
	if n == 0 || k == 0 {
		return
	}
	if n <= triangleSide {
		if level < simd.AVX2 {
			syrkLoop(n, k, a, lda, c, ldc)
		} else {
			syrkAssembly(n, k, a, lda, c, ldc)
		}
		return
	}
	n1 := half(n)
	Syrk(n1, k, a, lda, c, ldc)
	GemmNT(n-n1, n1, k, a[n1:], lda, a, lda, c[n1:], ldc)
	Syrk(n-n1, k, a[n1:], lda, c[n1+n1*ldc:], ldc)
}

// triangleSide is the size of the triangles that recursions end with.
const triangleSide = 8

// half returns where a recursion splits n > triangleSide rows or columns: at a multiple of triangleSide.
func half(n int) int { return (n/2 + triangleSide - 1) / triangleSide * triangleSide }

// gemm computes C -= A*B where element (p, j) of B is b[p*bk+j*bj].
func gemm[V sparse.Value](m, n, k int, a []V, lda int, b []V, bk, bj int, c []V, ldc int) {
	if m == 0 || n == 0 || k == 0 {
		return
	}
	if level < simd.AVX2 {
		gemmLoop(m, n, k, a, lda, b, bk, bj, c, ldc)
		return
	}
	gemmAssembly(m, n, k, a, lda, b, bk, bj, c, ldc)
}
