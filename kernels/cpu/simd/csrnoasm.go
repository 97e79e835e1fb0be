//go:build !amd64

package simd

import "github.com/msrep-go/msrep/sparse"

// rowsAVX2 does nothing where there is no assembly.
func rowsAVX2[V sparse.Value](alpha, beta V, ptr []int64, idx []int32, val, x, y, work []V) int {
	return 0
}

// minMaxAVX2 is never called where there is no assembly.
func minMaxAVX2(idx []int32) (lo, hi int32) { return minMaxGeneric(idx) }

// manyRows does nothing where there is no assembly.
func manyRows[V sparse.Value](l Level, register int, alpha, beta V, ptr []int64, idx []int32, val, x, y []V, rowsX, ldx, ldy, vectors, last, asks int, across, stream bool) int {
	return 0
}

// spreadAVX2 is never called where there is no assembly.
func spreadAVX2[V sparse.Value](alpha V, ptr []int64, x, f []V) int { return 0 }

// scatterAVX2 is never called where there is no assembly.
func scatterAVX2[V sparse.Value](n int, idx []int32, val, f, y []V, first int, far bool) int {
	return 0
}

// scatterMany does nothing where there is no assembly.
func scatterMany[V sparse.Value](l Level, alpha V, from int, ptr []int64, idx []int32, val, x, y, spill []V, marks []byte, ldx, ldy, lds, rows, first, done, open, vectors, last, asks int) int {
	return from
}

// orderRowsAssembly is never called where there is no assembly.
func orderRowsAssembly[V sparse.Value](l Level, order []int32, x, to Block[V], full, last int) {}
