//go:build !amd64

package simd

import "github.com/msrep-go/msrep/sparse"

// symmetricAssembly is never called where there is no assembly.
func symmetricAssembly[V sparse.Value](l Level, d *Diagonals[V], runs []DiagonalRun, far, before, column, mask int, alpha, beta V, x, y, to, carries []V) {
}
