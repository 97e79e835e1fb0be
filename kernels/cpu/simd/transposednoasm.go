//go:build !amd64

package simd

import "github.com/msrep-go/msrep/sparse"

// diagonalsTransposedAssembly is never called where there is no assembly.
func diagonalsTransposedAssembly[V sparse.Value](l Level, d *Diagonals[V], run DiagonalRun, alpha V, x []V, row, column, mask int, y, carries []V) {
}

// blocksTransposedAssembly is never called where there is no assembly.
func blocksTransposedAssembly[V sparse.Value](l Level, b *Blocks[V], at Position, n int, factors, y []V, first int, sums []V) {
}

// slicesTransposedAssembly is never called where there is no assembly.
func slicesTransposedAssembly[V sparse.Value](l Level, s *Slices[V], at Position, n int, factors, y []V, first int, products []V) {
}

// lostAssembly is never called where there is no assembly.
func lostAssembly[V sparse.Value](l Level, n int, x []V, least, greatest V) bool { return true }
