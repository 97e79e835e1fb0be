package dense

import (
	"math"
	"unsafe"

	"github.com/msrep-go/msrep/sparse"
)

// rightAssembly is rightSolve with assembly, for 1 <= n <= triangleSide and m > 0.
func rightAssembly[V sparse.Value](m, n int, u []V, uk, uj int, b []V, ldb int) {
	size := int(unsafe.Sizeof(u[0]))
	var inverse [triangleSide]V
	for j := range n {
		d := u[j*(uk+uj)]
		inverse[j] = 1 / d
		if math.IsInf(float64(inverse[j]), 0) && d != 0 {
			rightLoop(m, n, u, uk, uj, b, ldb)
			return
		}
	}
	right(level, &rightArgs[V]{m, n, &u[0], uk * size, uj * size, &inverse[0], &b[0], ldb * size})
}

// leftAssembly is LowerUnitSolve with assembly, for 2 <= n <= triangleSide and m > 0.
func leftAssembly[V sparse.Value](n, m int, l []V, ldl int, b []V, ldb int) {
	size := int(unsafe.Sizeof(l[0]))
	left(level, &leftArgs[V]{m, n, &l[0], ldl * size, &b[0], ldb * size})
}

// gemmTNAssembly is GemmTN with assembly, for m, n and k > 0. It multiplies a few columns of A by all columns of B before
// the next ones.
func gemmTNAssembly[V sparse.Value](m, n, k int, a []V, lda int, b []V, ldb int, c []V, ldc int) {
	var sums [triangleSide]V
	args := dotsArgs[V]{k: k, lda: lda * int(unsafe.Sizeof(a[0])), sums: &sums[0]}
	for i := 0; i < m; i += triangleSide {
		args.n, args.a = min(triangleSide, m-i), &a[i*lda]
		for j := range n {
			args.x = &b[j*ldb]
			dots(level, &args)
			to := c[i+j*ldc:][:args.n]
			for r := range to {
				to[r] -= sums[r]
			}
		}
	}
}
