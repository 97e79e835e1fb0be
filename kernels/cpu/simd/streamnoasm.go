//go:build !amd64

package simd

import "github.com/msrep-go/msrep/sparse"

// None of these is called where there is no assembly.

func streamAssembly[V sparse.Value](_ Level, n int, alpha V, v, y []V) {}

func loadAheadAssembly[V sparse.Value](x []V) {}

func fenceAssembly() {}
