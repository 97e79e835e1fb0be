//go:build !amd64

package csr

import (
	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/sparse"
)

// There is no assembly: none of these is called.

func rowsAVX2[V sparse.Value](alpha, beta V, ptr []int64, idx []int32, val, x, y, work []V, predicted, near bool) int {
	return 0
}

func spreadAVX2[V sparse.Value](alpha V, ptr []int64, x, f []V) int { return 0 }

func rowsTransposedAVX2[V sparse.Value](n int, idx []int32, val, f, y []V, first int, far bool) int {
	return 0
}

func rowsTransposedMany[V sparse.Value](l simd.Level, alpha V, from int, ptr []int64, idx []int32, val, x, y, spill []V, marks []byte, ldx, ldy, lds, rows, first, done, open, vectors, last, prefetchEnd int) int {
	return from
}

func rowSumsAVX2[V sparse.Value](ptr []int64, idx []int32, val, x, sums []V) bool { return false }
