package stats_test

import (
	"math/rand/v2"
	"testing"

	"github.com/msrep-go/msrep/internal/stats"
	"github.com/msrep-go/msrep/sparse"
)

// BenchmarkOf describes a matrix of 5 M entries in 500 k rows; the rate counts
// its row pointers and column indices.
func BenchmarkOf(b *testing.B) {
	const rows, perRow = 500_000, 10
	rng := rand.New(rand.NewPCG(1, 2))
	m := &sparse.CSR[float64]{Rows: rows, Cols: rows, RowPtr: make([]int64, rows+1), ColIdx: make([]int32, rows*perRow), Val: make([]float64, rows*perRow)}
	for i := range m.RowPtr {
		m.RowPtr[i] = int64(i * perRow)
	}
	for k := range m.ColIdx {
		m.ColIdx[k] = int32(rng.IntN(rows))
	}
	b.SetBytes(int64(8*len(m.RowPtr) + 4*len(m.ColIdx)))
	b.ReportAllocs()
	for b.Loop() {
		stats.Of(m)
	}
}
