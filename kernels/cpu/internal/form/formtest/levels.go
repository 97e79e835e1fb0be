package formtest

import (
	"testing"

	"github.com/msrep-go/msrep/internal/simd"
)

// Levels runs a test at every level.
func Levels(t *testing.T, f func(t *testing.T, l simd.Level)) {
	for l := simd.Generic; l <= simd.AVX512; l++ {
		t.Run(l.String(), func(t *testing.T) {
			if l > simd.Best() {
				t.Skipf("this processor has at most %s", simd.Best())
			}
			f(t, l)
		})
	}
}
