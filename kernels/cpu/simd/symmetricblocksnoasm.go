//go:build !amd64

package simd

import "github.com/msrep-go/msrep/sparse"

// symmetricBlocksAssembly is never called where there is no assembly.
func symmetricBlocksAssembly[V sparse.Value](l Level, b *SymmetricBlocks[V], slice, column, n int, alpha V, x, y []V, first int) {
}
