package order

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/gen"
)

func TestSpreadGivesEachPartAsManyRowsOfEachLength(t *testing.T) {
	// Rows and columns 0 to 5 have 6, 0, 6, 2, 4 and 4 entries together: in order 0, 2, 4, 5, 3, 1.
	a := matrix(
		"1.1.1.",
		"......",
		"1.11..",
		"....1.",
		"..1..1",
		"1....1",
	)
	p, cuts, err := Spread(a, 2)
	require.NoError(t, err)
	require.Equal(t, []int{0, 3, 6}, cuts)
	require.Equal(t, []int32{0, 5, 3, 2, 4, 1}, p)
}

func TestSpreadReturnsPermutationsInEqualParts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, parts := drawMatrix(t, 60, true), rapid.IntRange(1, 70).Draw(t, "parts")
		p, cuts, err := Spread(a, parts)
		require.NoError(t, err)
		requirePermutation(t, p, a.Rows)
		require.Len(t, cuts, parts+1)
		require.Zero(t, cuts[0])
		require.Equal(t, a.Rows, cuts[parts])
		for k := range parts {
			require.InDelta(t, a.Rows/parts, cuts[k+1]-cuts[k], 2)
		}
	})
}

func TestSpreadBalancesAGraphWithHubs(t *testing.T) {
	a, _, err := gen.Generate("rmat:scale=12,edges=16")
	require.NoError(t, err)
	p, cuts, err := Spread(a, 8)
	require.NoError(t, err)
	for k := range 8 {
		n := int64(0)
		for _, i := range p[cuts[k]:cuts[k+1]] {
			n += a.RowPtr[i+1] - a.RowPtr[i]
		}
		require.InEpsilon(t, float64(a.NNZ())/8, float64(n), 0.05)
	}
}

func TestSpreadRefusesWhatItCannotOrder(t *testing.T) {
	_, _, err := Spread(matrix("1."), 2)
	require.True(t, sparse.IsInput(err))
	_, _, err = Spread(matrix("1"), 0)
	require.True(t, sparse.IsInput(err))
}
