//go:build !amd64

package simd

import "github.com/msrep-go/msrep/sparse"

// diagonalsAssembly is never called where there is no assembly.
func diagonalsAssembly[V sparse.Value](_ Level, d *Diagonals[V], run DiagonalRun, alpha, beta V, x []V, row, column, mask int, y []V) {
	d.runGeneric(run, alpha, beta, x, row, column, mask, y)
}
