//go:build !amd64

package simd

import "github.com/msrep-go/msrep/sparse"

// assembly is never called where there is no assembly.
func (s *symmetricRun[V]) assembly(l Level, alpha V, x, y Block[V], low int) {}

// manySymmetricBlocksAssembly is never called where there is no assembly.
func manySymmetricBlocksAssembly[V sparse.Value](l Level, b *SymmetricBlocks[V], slice, column, n int, alpha V, x, y Block[V], first int) {
}
