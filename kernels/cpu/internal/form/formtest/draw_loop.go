package formtest

import (
	"math"

	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/sparse"
)

// DrawCSR draws a small matrix with rows of every length up to 40, or of few entries each, many of
// them empty; one row sometimes has most of the entries.
func DrawCSR[V sparse.Value](t *rapid.T) *sparse.CSR[V] {
	rows, cols := rapid.IntRange(0, 80).Draw(t, "rows"), rapid.IntRange(1, 50).Draw(t, "cols")
	a := &sparse.CSR[V]{Rows: rows, Cols: cols, RowPtr: []int64{0}}
	longRow := rapid.IntRange(-1, max(rows-1, 0)).Draw(t, "long row")
	lengths := []int{0, 0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 40}
	lengths = rapid.SampledFrom([][]int{lengths[:6], lengths[:9], lengths[:12], lengths, {2, 3, 4}, {9}, {17, 19, 24, 30}}).Draw(t, "lengths")
	for r := range rows {
		n := rapid.SampledFrom(lengths).Draw(t, "length")
		if r == longRow {
			n = 300
		}
		for range n {
			a.ColIdx = append(a.ColIdx, int32(rapid.IntRange(0, cols-1).Draw(t, "column")))
			a.Val = append(a.Val, V(Value(t)))
		}
		a.RowPtr = append(a.RowPtr, int64(len(a.ColIdx)))
	}
	return a
}

// Value draws a number, now and then an unusual one.
func Value(t *rapid.T) float64 {
	switch rapid.IntRange(0, 200).Draw(t, "kind") {
	case 0:
		return rapid.SampledFrom([]float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1)}).Draw(t, "value")
	default:
		return float64(rapid.IntRange(-1000, 1000).Draw(t, "value")) / 64
	}
}

func Vector[V sparse.Value](t *rapid.T, n int) []V {
	x := make([]V, n)
	for i := range x {
		x[i] = V(Value(t))
	}
	return x
}

var Factors = []float64{0, math.Copysign(0, -1), 1, -1, 1.5, -0.375}
