package order

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/sparse/internal/matrixtest"
)

func TestSymmetryCountsMirroredEntries(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := drawMatrix(t, 9, true)
		pattern, values, err := Symmetry(a)
		require.NoError(t, err)
		is := map[[2]int32]bool{}
		for i := range a.Rows {
			for _, j := range a.ColIdx[a.RowPtr[i]:a.RowPtr[i+1]] {
				is[[2]int32{int32(i), j}] = true
			}
		}
		d := matrixtest.Dense(a)
		all, mirrored, equal := 0.0, 0.0, 0.0
		for at := range is {
			if i, j := at[0], at[1]; i != j {
				all++
				if is[[2]int32{j, i}] {
					mirrored++
					if d[i][j] == d[j][i] {
						equal++
					}
				}
			}
		}
		if all == 0 {
			all, mirrored, equal = 1, 1, 1
		}
		require.Equal(t, [2]float64{mirrored / all, equal / all}, [2]float64{pattern, values})
	})
}
