//go:build !amd64

package simd

import "github.com/msrep-go/msrep/sparse"

// manyBinAssembly is never called where there is no assembly.
func manyBinAssembly[V sparse.Value](_ Level, _, _, _ int, _, _ []uint16, _ []V, _ Block[V], _ []V, _ BinAhead[V], _ []uint16, _ *byte, _ int) {
}
