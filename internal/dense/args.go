package dense

import "github.com/msrep-go/msrep/sparse"

// productArgs are the arguments of the kernels of products, for m, n and k > 0: with distances counted in
// elements,
//
//	for j := range n {
//		for i := range m {
//			for p := range k {
//				c[i+j*ldc] -= a[i+p*lda] * b[p*bk+j*bj]
//			}
//		}
//	}
type productArgs[V sparse.Value] struct {
	m, n, k int
	a       *V
	lda     int // bytes from a column of A to the next
	b       *V
	bk, bj  int // bytes from a row of B to the next, and from a column
	c       *V
	ldc     int // bytes from a column of C to the next
}

// rightArgs are the arguments of the kernels of rightSolve, for 1 <= n <= triangleSide: with distances counted in
// elements,
//
//	for i := range m {
//		for j := range n {
//			for p := range j {
//				b[i+j*ldb] -= b[i+p*ldb] * u[p*uk+j*uj]
//			}
//			b[i+j*ldb] *= inverse[j]
//		}
//	}
type rightArgs[V sparse.Value] struct {
	m, n    int
	u       *V
	uk, uj  int // bytes from a row of U to the next, and from a column
	inverse *V
	b       *V
	ldb     int // bytes from a column of B to the next
}

// leftArgs are the arguments of the kernels of LowerUnitSolve, for 2 <= n <= triangleSide and m > 0: with distances
// counted in elements,
//
//	for j := range m {
//		for p := range n {
//			for i := p + 1; i < n; i++ {
//				b[i+j*ldb] -= l[i+p*ldl] * b[p+j*ldb]
//			}
//		}
//	}
//
// They read L on and above its diagonal, and do not use it.
type leftArgs[V sparse.Value] struct {
	m, n int
	l    *V
	ldl  int // bytes from a column of L to the next
	b    *V
	ldb  int // bytes from a column of B to the next
}

// dotsArgs are the arguments of the kernels of GemmTN, for k > 0 and 1 <= n <= triangleSide: with the distance counted in
// elements,
//
//	for j := range n {
//		for i := range k {
//			sums[j] += a[i+j*lda] * x[i] // from 0 on
//		}
//	}
//
// A lane adds every product whose row is that lane modulo the number of lanes; then the lanes are added. The kernels may
// write all triangleSide sums.
type dotsArgs[V sparse.Value] struct {
	k, n int
	a    *V
	lda  int // bytes from a column of A to the next
	x    *V
	sums *V
}
