package order

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/internal/matrixtest"
)

// without returns d without row i.
func without(d [][]float64, i int) [][]float64 {
	return slices.Concat(d[:i], d[i+1:])
}

func transposed(d [][]float64, cols int) [][]float64 {
	t := make([][]float64, cols)
	for j := range t {
		t[j] = make([]float64, len(d))
		for i := range d {
			t[j][i] = d[i][j]
		}
	}
	return t
}

// avoidable returns the rows without which matchings are as large.
func avoidable(d [][]float64, cols int) []int32 {
	var rows []int32
	size, _ := bestMatching(d, cols)
	for i := range d {
		if less, _ := bestMatching(without(d, i), cols); less == size {
			rows = append(rows, int32(i))
		}
	}
	return rows
}

func TestDeficientNamesTheRowsAndColumnsThatLargestMatchingsLeaveOut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := drawMatrix(t, 5, rapid.Bool().Draw(t, "square"))
		for k := range a.Val {
			a.Val[k] = max(a.Val[k], 0) // so that duplicates do not cancel
		}
		m, err := Match(a)
		require.NoError(t, err)
		d, err := Deficient(a, m.Rows)
		require.NoError(t, err)
		dense := matrixtest.Dense(a)
		require.Equal(t, avoidable(dense, a.Cols), d.Rows)
		require.Equal(t, avoidable(transposed(dense, a.Cols), a.Rows), d.ColsShort)
		require.Len(t, d.UnmatchedRows, a.Rows-m.Size)
		require.Len(t, d.UnmatchedCols, a.Cols-m.Size)
		require.Len(t, d.Rows, len(d.Cols)+len(d.UnmatchedRows))
		require.Len(t, d.ColsShort, len(d.RowsShort)+len(d.UnmatchedCols))
		for i := range a.Rows {
			for j := range a.Cols {
				if dense[i][j] != 0 && slices.Contains(d.Rows, int32(i)) {
					require.Contains(t, d.Cols, int32(j))
				}
				if dense[i][j] != 0 && slices.Contains(d.ColsShort, int32(j)) {
					require.Contains(t, d.RowsShort, int32(i))
				}
			}
		}
	})
}

func TestWhatIsNoLargestMatchingIsRefused(t *testing.T) {
	a := matrix(
		"12.",
		"3..",
		"..4",
	)
	for _, c := range []struct {
		rows    []int32
		message string
	}{
		{[]int32{0, -1, 2}, "rows: 2 columns are matched: a larger matching exists"},
		{[]int32{0, 0, 2}, "rows: columns 0 and 1 are both matched with row 0"},
		{[]int32{0, 3, 2}, "rows: column 1 is matched with row 3: it must be -1 or in [0, 3)"},
		{[]int32{0, -2, 2}, "rows: column 1 is matched with row -2: it must be -1 or in [0, 3)"},
		{[]int32{0}, "rows: a matching of 3 columns has 1"},
	} {
		_, err := Deficient(a, c.rows)
		require.EqualError(t, err, c.message)
		require.True(t, sparse.IsInput(err))
	}
	d, err := Deficient(a, []int32{1, 0, 2})
	require.NoError(t, err)
	require.Equal(t, &Deficiency{}, d)
}

func TestAnEmptyRowAndAnEmptyColumnAreNamed(t *testing.T) {
	a := matrix(
		"1..",
		"...",
		"..2",
	)
	m, err := Match(a)
	require.NoError(t, err)
	require.Equal(t, []int32{0, -1, 2}, m.Rows)
	require.Equal(t, []float64{1, 1, 1}, m.RowScale)
	require.Equal(t, []float64{1, 1, 0.5}, m.ColScale)
	d, err := Deficient(a, m.Rows)
	require.NoError(t, err)
	require.Equal(t, &Deficiency{Rows: []int32{1}, ColsShort: []int32{1}, UnmatchedRows: []int32{1}, UnmatchedCols: []int32{1}}, d)
}
