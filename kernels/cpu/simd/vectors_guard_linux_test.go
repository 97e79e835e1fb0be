package simd_test

import (
	"testing"

	"github.com/msrep-go/msrep/kernels/cpu/simd"
)

func TestLoopsOverVectorsStayInsideThem(t *testing.T) {
	levels(t, func(t *testing.T, l simd.Level) {
		for _, c := range vectorCalls() {
			for n := 1; n < 25; n++ {
				for _, atEnd := range []bool{false, true} {
					v := make([][]float64, c.vectors)
					for j := range v {
						v[j] = between(t, make([]float64, n), atEnd)
					}
					c.do(l, v)
				}
			}
		}
	})
}
