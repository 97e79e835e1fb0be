//go:build !amd64

package simd

import "github.com/msrep-go/msrep/sparse"

// slicesAssembly is never called where there is no assembly.
func slicesAssembly[V sparse.Value](_ Level, s *Slices[V], at Position, n int, x, sums []V, add bool) {
	s.multiply(at, n, x, sums, add)
}
