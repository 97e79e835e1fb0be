package formtest

import (
	"slices"
	"testing"

	"github.com/msrep-go/msrep/internal/simd"
)

// Levels runs a test at every level.
func Levels(t *testing.T, f func(t *testing.T, l simd.Level)) {
	for _, l := range simd.All {
		t.Run(l.String(), func(t *testing.T) {
			if !slices.Contains(simd.Levels(), l) {
				t.Skipf("this processor does not have %s", l)
			}
			f(t, l)
		})
	}
}
