package partition

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/sparse"
)

func TestViewsShareTheArraysOfTheMatrix(t *testing.T) {
	a := figureCSR()
	parts, err := NewPCSR(a, 4, RuleNNZ)
	require.NoError(t, err)
	for _, p := range parts {
		require.Same(t, &a.Val[p.StartIdx], &p.Val()[0])
		require.Same(t, &a.ColIdx[p.StartIdx], &p.ColIdx()[0])
		require.Same(t, &a.RowPtr[p.First()], &p.GlobalRowPtr()[0])
		require.Len(t, p.GlobalRowPtr(), p.Majors()+1)
	}
	grown := append(parts[0].Val(), 99)
	require.Equal(t, 99.0, grown[4])
	require.Equal(t, 3.0, a.Val[4], "appending to a view must not write into the next part")

	c := figureCSC()
	columns, err := NewPCSC(c, 3, RuleMergePath)
	require.NoError(t, err)
	require.Same(t, &c.Val[columns[1].StartIdx], &columns[1].Val()[0])
	require.Same(t, &c.ColPtr[columns[1].First()], &columns[1].GlobalColPtr()[0])
}

func TestMorePartsThanEntriesGiveEmptyViews(t *testing.T) {
	a := &sparse.CSR[float32]{Rows: 3, Cols: 2, RowPtr: []int64{0, 0, 1, 1}, ColIdx: []int32{1}, Val: []float32{5}}
	parts, err := NewPCSR(a, 9, RuleAuto)
	require.NoError(t, err)
	entries, rows := 0, 0
	for _, p := range parts {
		entries += len(p.Val())
		rows += p.OwnEnd - p.OwnFirst
		ptr, err := p.RowPtr()
		require.NoError(t, err)
		require.Equal(t, p.NNZ(), ptr[len(ptr)-1])
	}
	require.Equal(t, 1, entries)
	require.Equal(t, 3, rows)
}

func TestUnsortedCOOIsSortedOrRefused(t *testing.T) {
	sorted := figureCOO()
	shuffled := &sparse.COO[float64]{Rows: 6, Cols: 6}
	for _, k := range []int{7, 3, 18, 0, 11, 5, 1, 16, 9, 2, 13, 4, 17, 6, 15, 8, 10, 12, 14} {
		shuffled.RowIdx = append(shuffled.RowIdx, sorted.RowIdx[k])
		shuffled.ColIdx = append(shuffled.ColIdx, sorted.ColIdx[k])
		shuffled.Val = append(shuffled.Val, sorted.Val[k])
	}
	before := slices.Clone(shuffled.RowIdx)

	_, err := NewPCOO(shuffled, 4, RuleNNZ, Refuse)
	require.ErrorIs(t, err, ErrUnsorted)
	require.True(t, sparse.IsInput(err))

	parts, err := NewPCOO(shuffled, 4, RuleNNZ, SortFirst)
	require.NoError(t, err)
	require.Equal(t, before, shuffled.RowIdx, "the caller's matrix is left alone")
	var dense [6][6]float64
	for _, p := range parts {
		require.Equal(t, sparse.RowSorted, p.Order)
		for k, v := range p.Val() {
			dense[p.RowIdx()[k]][p.ColIdx()[k]] += v
		}
	}
	require.Equal(t, figure1, dense)
	require.Equal(t, sparse.RowSorted, parts[0].A.Order())

	shuffled.RowIdx[5] = 6
	_, err = NewPCOO(shuffled, 4, RuleNNZ, SortFirst)
	require.True(t, sparse.IsInput(err), "a row index outside the matrix is found before sorting")
}

func TestViewsOfBrokenMatricesAreRefused(t *testing.T) {
	for name, spoil := range map[string]func(a *sparse.CSR[float64]){
		"no pointers":     func(a *sparse.CSR[float64]) { a.RowPtr = nil },
		"missing pointer": func(a *sparse.CSR[float64]) { a.RowPtr = a.RowPtr[:6] },
		"missing value":   func(a *sparse.CSR[float64]) { a.Val = a.Val[:18] },
		"missing index":   func(a *sparse.CSR[float64]) { a.ColIdx = a.ColIdx[:18] },
		"too few entries": func(a *sparse.CSR[float64]) { a.RowPtr[6] = 20 },
	} {
		a := figureCSR()
		spoil(a)
		for _, rule := range []Rule{RuleNNZ, RuleMergePath, RuleMajor} {
			_, err := NewPCSR(a, 6, rule)
			require.True(t, sparse.IsInput(err), "%s by %s", name, rule)
			_, err = NewPCSC(a.Transpose(), 6, rule)
			require.True(t, sparse.IsInput(err), "%s by %s", name, rule)
		}
	}
	a := figureCSR()
	a.RowPtr[2], a.RowPtr[3] = 99, -5
	_, err := NewPCSR(a, 6, RuleMajor)
	require.ErrorContains(t, err, "pointers: they decrease")
	_, err = NewPCSR[float64](nil, 2, RuleNNZ)
	require.True(t, sparse.IsInput(err))
	_, err = NewPCSC[float64](nil, 2, RuleNNZ)
	require.True(t, sparse.IsInput(err))
	_, err = NewPCOO[float64](nil, 2, RuleNNZ, Refuse)
	require.True(t, sparse.IsInput(err))
	_, err = NewPCOO(&sparse.COO[float64]{Rows: 2, Cols: 2, RowIdx: []int32{0}}, 2, RuleNNZ, Refuse)
	require.True(t, sparse.IsInput(err))
	_, err = NewPCOO(figureCOO(), 0, RuleNNZ, Refuse)
	require.True(t, sparse.IsInput(err))
}
