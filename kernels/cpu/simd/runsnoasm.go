//go:build !amd64

package simd

import "github.com/msrep-go/msrep/sparse"

// runsAssembly is never called where there is no assembly.
func runsAssembly[V sparse.Value](l Level, r *Runs[V], at RunPosition, n int, x, sums []V) {}

// runsTransposedAssembly is never called where there is no assembly.
func runsTransposedAssembly[V sparse.Value](l Level, r *Runs[V], at RunPosition, n int, factors, y []V, first int) {
}
