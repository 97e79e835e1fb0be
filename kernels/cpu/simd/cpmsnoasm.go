//go:build !amd64

package simd

import "github.com/msrep-go/msrep/sparse/cpms"

// There is no assembly: Best is Generic, so that only rank is ever called.

func joinSegments(l Level, dst []float64, a *cpms.Array, at, step, k int) {}

func readsSegments(a *cpms.Array, read, width int) bool { return false }

func headRows(y []float64, ptr []int64, e Entries, x *cpms.Heads) {}

func headRowsSegments(y []float64, ptr []int64, idx []int32, a *cpms.Array, at, step, read int, x *cpms.Heads) {
}

func headSlices(l Level, y []float64, count []int32, off []int64, e Entries, x *cpms.Heads) {}

func headSlicesSegments(l Level, y []float64, count []int32, off []int64, e Entries, at, step int, x *cpms.Heads) {
}

func rank(sum []float64, cur, next *cpms.Heads, first int, degree []int32, damping, add float64) (done int, diff float64) {
	return 0, 0
}
