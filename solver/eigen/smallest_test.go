package eigen

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSolveSingularFindsTheSmallestSingularValues(t *testing.T) {
	sys := openOn(t, "cpu:1")
	for _, shape := range [][2]int{{100, 100}, {200, 60}, {60, 200}, {1, 1}, {9, 1}, {30, 5}, {5, 30}} {
		a := randomMatrix(shape[0], shape[1], 7)
		want := denseSingularValues(t, a)
		slices.Reverse(want)
		for _, k := range []int{1, 6, len(want)} {
			if k > len(want) {
				continue
			}
			res, err := SolveSingular(t.Context(), sys, a, Options{Count: k, Which: Smallest})
			require.NoError(t, err, "%v, %d", shape, k)
			requireTriples(t, a, want[:k], res, 1e-10)
		}
	}
}

func TestSolveSingularFindsZerosOfRectangularMatrices(t *testing.T) {
	sys := openOn(t, "cpu:1")
	for _, shape := range [][2]int{{80, 40}, {40, 80}, {40, 40}} {
		a := randomMatrix(shape[0], shape[1], 3)
		for i := range 3 { // rows and columns of zeros
			for k := a.RowPtr[i]; k < a.RowPtr[i+1]; k++ {
				a.Val[k] = 0
			}
		}
		for k, j := range a.ColIdx {
			if j >= int32(shape[1]-2) {
				a.Val[k] = 0
			}
		}
		want := denseSingularValues(t, a)
		slices.Reverse(want)
		res, err := SolveSingular(t.Context(), sys, a, Options{Count: 6, Which: Smallest})
		require.NoError(t, err, "%v", shape)
		requireTriples(t, a, want[:6], res, 1e-10)
	}
}
