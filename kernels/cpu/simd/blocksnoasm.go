//go:build !amd64

package simd

import "github.com/msrep-go/msrep/sparse"

// blocksAssembly is never called where there is no assembly.
func blocksAssembly[V sparse.Value](_ Level, b *Blocks[V], at Position, n int, x, sums []V) {
	b.multiply(at, n, x, sums)
}
