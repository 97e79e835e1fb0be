//go:build !amd64

package csr

import (
	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/sparse"
)

// There is no assembly: none of these is called.

func rowsAVX2[V sparse.Value](a *rowsArgs[V]) {}

func spreadAVX2[V sparse.Value](alpha V, ptr []int64, x, f []V) int { return 0 }

func rowsTransposedAVX2[V sparse.Value](a *rowsTransposedArgs[V]) {}

func rowSumsAVX2[V sparse.Value](ptr []int64, idx []int32, val, x, sums []V) bool { return false }

func manyRows[V sparse.Value](l simd.Level, register int, a *manyArgs[V]) {}

func rowsTransposedMany[V sparse.Value](l simd.Level, a *manyTransposedArgs[V]) {}

func permuteRows[V sparse.Value](l simd.Level, a *permuteArgs[V]) {}
