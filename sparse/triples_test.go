package sparse

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/mem"
)

func TestFromTriplesAddsDuplicatesAndDoesNotChangeItsArguments(t *testing.T) {
	row, col, val := []int32{2, 0, 2, 0}, []int32{1, 2, 1, 0}, []float32{1, 2, 3, 4}
	before := []any{slices.Clone(row), slices.Clone(col), slices.Clone(val)}
	from, piece, group := groupFrom, pieceEntries, groupEntries
	defer func() { groupFrom, pieceEntries, groupEntries = from, piece, group }()
	for range 2 {
		m, err := FromTriples(3, 3, row, col, val)
		require.NoError(t, err)
		require.Equal(t, &CSR[float32]{Rows: 3, Cols: 3, RowPtr: []int64{0, 2, 2, 3}, ColIdx: []int32{0, 2, 1}, Val: []float32{4, 2, 4}}, m)
		require.Equal(t, before, []any{row, col, val})
		other, err := FromTriples(3, 3, row, col, []float32{1, 0, -1, 0})
		require.NoError(t, err)
		require.Equal(t, &CSR[float32]{Rows: 3, Cols: 3, RowPtr: m.RowPtr, ColIdx: m.ColIdx, Val: make([]float32, 3)}, other)
		groupFrom, pieceEntries, groupEntries = 0, 4, 1 // then in groups, which moves triples about
	}
	empty, err := FromTriples[float64](0, 0, nil, nil, nil)
	require.NoError(t, err)
	require.NoError(t, empty.Validate())
}

func TestFromTriplesRefusesWhatIsWrong(t *testing.T) {
	for _, c := range []struct {
		message    string
		rows, cols int
		row, col   []int32
	}{
		{"-1 rows: a size must not be negative", -1, 2, nil, nil},
		{"row index 2 is outside [0, 2)", 2, 2, []int32{2}, []int32{0}},
		{"column index -1 is outside [0, 2)", 2, 2, []int32{0}, []int32{-1}},
		{"2 row indices, 1 column indices and 1 values", 2, 2, []int32{0, 1}, []int32{0}},
	} {
		_, err := FromTriples(c.rows, c.cols, c.row, c.col, make([]float64, len(c.col)))
		require.ErrorContains(t, err, c.message)
		require.True(t, IsInput(err))
	}
	defer mem.SetAvailable(1 << 30)()
	_, err := FromTriples(MaxDim, MaxDim, []int32{0}, []int32{0}, []float64{1})
	require.ErrorContains(t, err, "1 triples in 2147483647 rows: to assemble them takes 17179869204 bytes of memory, 1073741824 are available")
	require.True(t, IsInput(err))
}
