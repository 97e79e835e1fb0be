package cluster

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/sparse"
)

func TestPreconditionersNameRowsOfTheWholeMatrix(t *testing.T) {
	a, err := sparse.NewCSR(4, 4, []int64{0, 1, 2, 2, 2}, []int32{0, 1}, []float64{1, 1})
	require.NoError(t, err)
	each(t, 2, func(sys *System) error {
		m, err := Slice(sys.Comm(), a, 2)
		if err != nil {
			return err
		}
		_, byElement := Jacobi(m)
		_, byBlock := BlockJacobi(m, 2)
		if m.First() == 0 {
			require.NoError(t, byElement)
			require.NoError(t, byBlock)
			_, err = BlockJacobi(m, 0)
			require.ErrorContains(t, err, "block size")
			return nil
		}
		require.True(t, sparse.IsInput(byElement))
		require.ErrorContains(t, byElement, "row 2 is 0")
		require.True(t, sparse.IsInput(byBlock))
		require.ErrorContains(t, byBlock, "rows 2 to 3 is singular")
		_, err = BlockJacobi(m, 3)
		require.ErrorContains(t, err, "must be a multiple")
		return nil
	})
	_, err = Jacobi(nil)
	require.ErrorIs(t, err, errNoPart)
	_, err = Jacobi(&Matrix[float64]{Rows: 2, Cols: 3, Part: a})
	require.ErrorContains(t, err, "square")
}
