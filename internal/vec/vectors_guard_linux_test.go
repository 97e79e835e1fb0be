package vec_test

import (
	"testing"
)

func TestLoopsOverVectorsStayInsideThem(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		for _, c := range vectorCalls() {
			for n := 1; n < 25; n++ {
				for _, atEnd := range []bool{false, true} {
					v := make([][]float64, c.vectors)
					for j := range v {
						v[j] = between(t, make([]float64, n), atEnd)
					}
					c.do(v)
				}
			}
		}
	})
}
