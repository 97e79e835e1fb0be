package eigen

import (
	"fmt"
	"testing"
)

func BenchmarkSmallEigen(b *testing.B) {
	for _, n := range []int{20, 40, 66, 100} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				t := newSymmetric(n)
				for i := range n {
					t.set(i, i, float64(i%7))
					if i > 0 {
						t.set(i, i-1, 1)
					}
					if i < n/3 {
						t.set(i, n/3, 0.1)
					}
				}
				t.eigen()
			}
		})
	}
}
