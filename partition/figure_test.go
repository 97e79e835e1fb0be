package partition

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/sparse"
)

// figure1 is the matrix of the paper's Figure 1. The expected arrays are computed from
// it, because those in the paper's Figures 3 and 4 have misprints.
var figure1 = [6][6]float64{
	{10, 0, 0, 0, -2, 0},
	{3, 9, 0, 0, 0, 3},
	{0, 7, 8, 7, 0, 0},
	{3, 0, 8, 7, 5, 0},
	{0, 8, 0, 9, 9, 13},
	{0, 4, 0, 0, 2, -1},
}

func figureCSR() *sparse.CSR[float64] {
	a := &sparse.CSR[float64]{Rows: 6, Cols: 6, RowPtr: []int64{0}}
	for i := range 6 {
		for j, v := range figure1[i] {
			if v != 0 {
				a.ColIdx, a.Val = append(a.ColIdx, int32(j)), append(a.Val, v)
			}
		}
		a.RowPtr = append(a.RowPtr, int64(len(a.Val)))
	}
	return a
}

func figureCSC() *sparse.CSC[float64] {
	a := &sparse.CSC[float64]{Rows: 6, Cols: 6, ColPtr: []int64{0}}
	for j := range 6 {
		for i := range 6 {
			if v := figure1[i][j]; v != 0 {
				a.RowIdx, a.Val = append(a.RowIdx, int32(i)), append(a.Val, v)
			}
		}
		a.ColPtr = append(a.ColPtr, int64(len(a.Val)))
	}
	return a
}

func figureCOO() *sparse.COO[float64] {
	csr := figureCSR()
	return &sparse.COO[float64]{Rows: 6, Cols: 6, RowIdx: expand(csr.RowPtr), ColIdx: csr.ColIdx, Val: csr.Val}
}

func TestFigure1InFourPartsByRow(t *testing.T) {
	want := []Part{
		{StartIdx: 0, EndIdx: 3, StartMajor: 0, EndMajor: 1, StartFlag: false, OwnFirst: 0, OwnEnd: 2},
		{StartIdx: 4, EndIdx: 8, StartMajor: 1, EndMajor: 3, StartFlag: true, OwnFirst: 2, OwnEnd: 4},
		{StartIdx: 9, EndIdx: 13, StartMajor: 3, EndMajor: 4, StartFlag: true, OwnFirst: 4, OwnEnd: 5},
		{StartIdx: 14, EndIdx: 18, StartMajor: 4, EndMajor: 5, StartFlag: true, OwnFirst: 5, OwnEnd: 6},
	}
	values := [][]float64{
		{10, -2, 3, 9}, {3, 7, 8, 7, 3}, {8, 7, 5, 8, 9}, {9, 13, 4, 2, -1},
	}
	columns := [][]int32{{0, 4, 0, 1}, {5, 1, 2, 3, 0}, {2, 3, 4, 1, 3}, {4, 5, 1, 4, 5}}
	pointers := [][]int64{{0, 2, 4}, {0, 1, 4, 5}, {0, 3, 5}, {0, 2, 5}}

	rows, err := NewPCSR(figureCSR(), 4, RuleNNZ)
	require.NoError(t, err)
	require.Len(t, rows, 4)
	for i, p := range rows {
		require.Equal(t, want[i], p.Part)
		require.Equal(t, values[i], p.Val())
		require.Equal(t, columns[i], p.ColIdx())
		ptr, err := p.RowPtr()
		require.NoError(t, err)
		require.Equal(t, pointers[i], ptr)
	}
	triples, err := NewPCOO(figureCOO(), 4, RuleNNZ, Refuse)
	require.NoError(t, err)
	for i, p := range triples {
		require.Equal(t, sparse.RowSorted, p.Order)
		require.Equal(t, want[i], p.Part)
		require.Equal(t, values[i], p.Val())
		require.Equal(t, columns[i], p.ColIdx())
	}
	require.Equal(t, []int32{3, 3, 3, 4, 4}, triples[2].RowIdx())
}

func TestFigure1InFourPartsByColumn(t *testing.T) {
	want := []Part{
		{StartIdx: 0, EndIdx: 3, StartMajor: 0, EndMajor: 1, StartFlag: false, OwnFirst: 0, OwnEnd: 2},
		{StartIdx: 4, EndIdx: 8, StartMajor: 1, EndMajor: 2, StartFlag: true, OwnFirst: 2, OwnEnd: 3},
		{StartIdx: 9, EndIdx: 13, StartMajor: 3, EndMajor: 4, StartFlag: false, OwnFirst: 3, OwnEnd: 5},
		{StartIdx: 14, EndIdx: 18, StartMajor: 4, EndMajor: 5, StartFlag: true, OwnFirst: 5, OwnEnd: 6},
	}
	csc := figureCSC()
	require.Equal(t, []int64{0, 3, 7, 9, 12, 16, 19}, csc.ColPtr)
	columns, err := NewPCSC(csc, 4, RuleNNZ)
	require.NoError(t, err)
	for i, p := range columns {
		require.Equal(t, want[i], p.Part)
	}
	require.Equal(t, []float64{7, 8, 4, 8, 8}, columns[1].Val())
	require.Equal(t, []int32{2, 4, 5, 2, 3}, columns[1].RowIdx())
	ptr, err := columns[1].ColPtr()
	require.NoError(t, err)
	require.Equal(t, []int64{0, 3, 5}, ptr)

	// COO sorted by column alone splits in the same way.
	coo := &sparse.COO[float64]{Rows: 6, Cols: 6, RowIdx: csc.RowIdx, ColIdx: expand(csc.ColPtr), Val: csc.Val}
	triples, err := NewPCOO(coo, 4, RuleNNZ, Refuse)
	require.NoError(t, err)
	for i, p := range triples {
		require.Equal(t, sparse.ColSorted, p.Order)
		require.Equal(t, want[i], p.Part)
	}
}

// The merge path of Figure 1 has 19+6 steps, cut at 6, 12 and 18.
func TestFigure1InFourPartsByMergePath(t *testing.T) {
	parts, _, err := Split(figureCSR().RowPtr, 4, RuleMergePath)
	require.NoError(t, err)
	require.Equal(t, []Part{
		{StartIdx: 0, EndIdx: 4, StartMajor: 0, EndMajor: 1, OwnFirst: 0, OwnEnd: 2},
		{StartIdx: 5, EndIdx: 8, StartMajor: 2, EndMajor: 3, OwnFirst: 2, OwnEnd: 4},
		{StartIdx: 9, EndIdx: 13, StartMajor: 3, EndMajor: 4, StartFlag: true, OwnFirst: 4, OwnEnd: 5},
		{StartIdx: 14, EndIdx: 18, StartMajor: 4, EndMajor: 5, StartFlag: true, OwnFirst: 5, OwnEnd: 6},
	}, parts)
}
