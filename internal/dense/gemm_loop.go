package dense

import "github.com/msrep-go/msrep/sparse"

// The loops in plain Go. A conversion of a product forbids the compiler to fuse it with the subtraction, so they have the
// same bits on all processors.

// loopRows and loopDepth are the rows and columns of the blocks of A, which stay in the first-level cache.
const loopRows, loopDepth = 64, 64

// gemmLoop is gemm in plain Go. It subtracts four columns of A at once from a column of C: the compiler keeps more sums
// than that in memory.
func gemmLoop[V sparse.Value](m, n, k int, a []V, lda int, b []V, bk, bj int, c []V, ldc int) {
	for p := 0; p < k; p += loopDepth {
		for i := 0; i < m; i += loopRows {
			for j := range n {
				subtractColumn(min(loopRows, m-i), min(loopDepth, k-p), a[i+p*lda:], lda, b[p*bk+j*bj:], bk, c[i+j*ldc:])
			}
		}
	}
}

// subtractColumn subtracts the product of A, m x k, and one column of B from one column of C, four columns of A at once.
func subtractColumn[V sparse.Value](m, k int, a []V, lda int, b []V, bk int, c []V) {
	c = c[:m]
	p := 0
	for ; p+4 <= k; p += 4 {
		a0, a1, a2, a3 := a[p*lda:][:m], a[(p+1)*lda:][:m], a[(p+2)*lda:][:m], a[(p+3)*lda:][:m]
		x0, x1, x2, x3 := b[p*bk], b[(p+1)*bk], b[(p+2)*bk], b[(p+3)*bk]
		for i, s := range c {
			s -= V(a0[i] * x0)
			s -= V(a1[i] * x1)
			s -= V(a2[i] * x2)
			s -= V(a3[i] * x3)
			c[i] = s
		}
	}
	for ; p < k; p++ {
		col, x := a[p*lda:][:m], b[p*bk]
		for i := range c {
			c[i] -= V(col[i] * x)
		}
	}
}

// syrkLoop is Syrk in plain Go, for few rows.
func syrkLoop[V sparse.Value](n, k int, a []V, lda int, c []V, ldc int) {
	for j := range n {
		subtractColumn(n-j, k, a[j:], lda, a[j:], lda, c[j+j*ldc:])
	}
}

// gemmTNLoop is GemmTN in plain Go.
func gemmTNLoop[V sparse.Value](m, n, k int, a []V, lda int, b []V, ldb int, c []V, ldc int) {
	for j := range n {
		x, y := b[j*ldb:][:k], c[j*ldc:][:m]
		i := 0
		for ; i+4 <= m; i += 4 {
			a0, a1, a2, a3 := a[i*lda:][:k], a[(i+1)*lda:][:k], a[(i+2)*lda:][:k], a[(i+3)*lda:][:k]
			var s0, s1, s2, s3 V
			for p, v := range x {
				s0 += V(a0[p] * v)
				s1 += V(a1[p] * v)
				s2 += V(a2[p] * v)
				s3 += V(a3[p] * v)
			}
			y[i] -= s0
			y[i+1] -= s1
			y[i+2] -= s2
			y[i+3] -= s3
		}
		for ; i < m; i++ {
			var s V
			for p, v := range a[i*lda:][:k] {
				s += V(v * x[p])
			}
			y[i] -= s
		}
	}
}
