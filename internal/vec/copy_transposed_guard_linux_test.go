package vec_test

import (
	"testing"

	"github.com/msrep-go/msrep/internal/vec"
)

func TestTransposedVectorsStayInsideTheirMemory(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		for count := 1; count < 10; count++ {
			for n := 1; n < 10; n++ {
				for _, atEnd := range []bool{false, true} {
					side := between(t, make([]float64, n*count), atEnd)
					row := between(t, make([]float64, n*count), atEnd)
					byColumn, byRow := vec.Grid[float64]{Val: side, I: 1, J: n}, vec.Grid[float64]{Val: row, I: count, J: 1}
					vec.CopyTransposed(n, count, byColumn, byRow)
					vec.CopyTransposed(n, count, byRow, byColumn)
				}
			}
		}
	})
}
