package stats

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCostsBeyond63BitsAreGivenAsTheLargestNumber(t *testing.T) {
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
	// One row of 2^40 entries and 3 empty ones: the squares pass 64 bits.
	s := scanRows([]int64{0, 0, 1 << 40, 1 << 40, 1 << 40})
	require.Equal(t, RowLengths{
		Max: 1 << 40, Mean: 1 << 38, StdDev: math.Sqrt(3) * (1 << 38),
	}, s.lengths())
}
