package stats

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/sparse"
)

func TestCostsBeyond63BitsBecomeTheLargestNumber(t *testing.T) {
	// 2^30 rows, one of them with 2^40 entries: 2^70 slots.
	rows := &rowScan{hist: newHistogram(), rows: 1 << 30}
	rows.hist.add(0, 1<<30-1)
	rows.hist.add(1<<40, 1)
	s := &Stats{Rows: 1 << 30, Cols: 1 << 30, NNZ: 1 << 40, EmptyRows: 1<<30 - 1, Row: RowLengths{Max: 1 << 40}}
	c := costs(s, rows, 8)
	for _, name := range []string{"ell", "ellr", "pellr"} {
		require.Equal(t, int64(math.MaxInt64), c[name].Bytes, name)
		require.Equal(t, int64(math.MaxInt64), c[name].Padding, name)
	}
	require.Equal(t, int64(math.MaxInt64), *c["ell"].WarpIterations)
	require.Equal(t, int64(math.MaxInt64), *c["ell"].Work)
	require.Equal(t, int64(8<<30+8+12<<40), c["csr"].Bytes)
	require.Equal(t, int64(1<<41-1), *c["pellr"].Work)
	require.Equal(t, int64(1<<40), *c["pellr"].WarpIterations)
}

func TestStandardDeviationOfHugeRowsIsExact(t *testing.T) {
	// One row of 2^40 entries and 3 empty ones: the sum of squares exceeds 64 bits.
	s := scanRows([]int64{0, 0, 1 << 40, 1 << 40, 1 << 40})
	require.Equal(t, RowLengths{
		Max: 1 << 40, Mean: 1 << 38, StdDev: math.Sqrt(3) * (1 << 38),
	}, s.lengths())
}

// Sorting the rows changes only Equation (1) of ellr, and the model must show it.
func TestTheModelsFollowEquationOne(t *testing.T) {
	mixed, sorted := []int64{0}, []int64{0}
	for i := range int64(640) {
		mixed = append(mixed, mixed[i]+1+19*(i%2))
		sorted = append(sorted, sorted[i]+1+19*(i/320))
	}
	of := func(ptr []int64) Stats {
		nnz := ptr[len(ptr)-1]
		m := &sparse.CSR[float64]{Rows: 640, Cols: int(nnz), RowPtr: ptr, ColIdx: make([]int32, nnz), Val: make([]float64, nnz)}
		for k := range m.ColIdx {
			m.ColIdx[k] = int32(k)
		}
		return Of(m)
	}
	a, b := of(mixed), of(sorted)
	require.Equal(t, 2*20*int64(320/32), *a.Formats["ellr"].WarpIterations)
	require.Equal(t, (20+1)*int64(320/32), *b.Formats["ellr"].WarpIterations)
	require.Greater(t, a.nanoseconds("ellr"), 1.3*b.nanoseconds("ellr"))
	require.Greater(t, a.gpuBytes("ellr"), 1.2*b.gpuBytes("ellr"))
	require.Equal(t, a.nanoseconds("pellr"), b.nanoseconds("pellr"))
	require.Equal(t, a.gpuBytes("pellr"), b.gpuBytes("pellr"))
}

func TestSizesBeyond63BitsAreNotRecommended(t *testing.T) {
	rows := &rowScan{hist: newHistogram(), rows: 1 << 30}
	rows.hist.add(0, 1<<30-1)
	rows.hist.add(1<<40, 1)
	s := &Stats{Rows: 1 << 30, Cols: 1 << 30, NNZ: 1 << 40, EmptyRows: 1<<30 - 1, Row: RowLengths{Max: 1 << 40}}
	s.Formats = costs(s, rows, 8)
	require.Equal(t, sparse.FormatCSR, s.Recommend().Format)
	require.Equal(t, sparse.FormatCSR, s.RecommendGPU().Format)
}
