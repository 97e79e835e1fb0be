package simd_test

import (
	"testing"

	"github.com/msrep-go/msrep/kernels/cpu/simd"
)

func TestTransposedVectorsStayInsideTheirMemory(t *testing.T) {
	levels(t, func(t *testing.T, l simd.Level) {
		for count := 1; count < 10; count++ {
			for n := 1; n < 10; n++ {
				for _, atEnd := range []bool{false, true} {
					side := between(t, make([]float64, n*count), atEnd)
					row := between(t, make([]float64, n*count), atEnd)
					byColumn, byRow := simd.Grid[float64]{Val: side, I: 1, J: n}, simd.Grid[float64]{Val: row, I: count, J: 1}
					simd.CopyTransposed(l, n, count, byColumn, byRow)
					simd.CopyTransposed(l, n, count, byRow, byColumn)
				}
			}
		}
	})
}
