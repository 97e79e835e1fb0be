//go:build !amd64 && !arm64

package csr

import (
	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/sparse"
)

// There is no assembly: none of these is called.

func rowsKernel[V sparse.Value](a *rowsArgs[V]) {}

func spreadKernel[V sparse.Value](alpha V, ptr []int64, x, f []V) int { return 0 }

func rowsTransposedKernel[V sparse.Value](a *rowsTransposedArgs[V]) {}

func rowSumsKernel[V sparse.Value](ptr []int64, idx []int32, val, x, sums []V) bool { return false }

func manyRows[V sparse.Value](l simd.Level, register int, a *manyArgs[V]) {}

func rowsTransposedMany[V sparse.Value](l simd.Level, a *manyTransposedArgs[V]) {}

func permuteRows[V sparse.Value](l simd.Level, a *permuteArgs[V]) {}

func rowsTransposedByRowKernel[V sparse.Value](alpha V, ptr []int64, idx []int32, val, x, y []V, first int) int {
	return 0
}
