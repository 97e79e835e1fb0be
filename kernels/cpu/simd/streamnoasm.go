//go:build !amd64

package simd

import "github.com/msrep-go/msrep/sparse"

// None of these is called where there is no assembly.

func finishAssembly[V sparse.Value](_ Level, n int, alpha, beta V, sums, y []V, stream bool) {}

func finishFromAssembly[V sparse.Value](_ Level, n int, alpha, beta V, at []uint16, sums, y []V, stream bool) {
}

func loadAheadAssembly[V sparse.Value](x []V) {}

func fenceAssembly() {}

func permuteAssembly[V sparse.Value](Level, int, []uint16, []V, []V) {}
