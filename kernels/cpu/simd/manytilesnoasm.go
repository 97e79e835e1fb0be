//go:build !amd64

package simd

import "github.com/msrep-go/msrep/sparse"

// tileManyAssembly is never called where there is no assembly.
func tileManyAssembly[V sparse.Value](_ Level, _ []uint32, _ int, _ []uint32, _ []V, _, _ Block[V], _ []V) {
}
